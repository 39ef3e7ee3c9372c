"""From what an engine takes to the figures of one evaluation, with their sums.

For engines that reserve: capacity = weights + activation + cuda_graph + runtime + kv_pool + headroom.
headroom is what nobody reserved: outside the engine's budget, and cut from blocks. It is negative where
the engine would take more than there is. usable = capacity - reserved by others. free = usable - weights -
activation - cuda_graph - runtime - kv_cache - state: what the promised load leaves, the cache counted as the
load fills it and not as the engine reserved it. None where the load does not say how many sequences run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from planner.domain.evaluation import Memory
from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.engines._demand import Demand


@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes of the fullest rank, whatever the load. pool: cache and recurrent state, as reserved."""

    weights: float
    weights_total: float
    activation: float
    graphs: float
    runtime: float
    pool: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the pool holds. tokens: of one replica. concurrency, expected: sequences of one replica, at the promised
    and at the expected length. longest: tokens of the longest sequence. promised_cache, promised_state: bytes of one
    sequence at the length promised to it, mean over requests.
    """

    tokens: float | None
    concurrency: float | None
    expected: float | None
    longest: int | None
    promised_cache: float
    promised_state: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the engine would not start: the sentence, and the numbers behind it."""

    text: str = ""
    values: dict[str, Any] = field(default_factory=dict)


def ledger(
    plan: Plan, taken: Taken, capacity: Capacity, demand: Demand, refusal: Refusal, notes: tuple[str, ...] = ()
) -> MemoryLedger:
    """The figures of one plan."""
    total = plan.hardware.capacity_bytes
    usable = total - plan.hardware.reserved_bytes
    fixed = taken.weights + taken.activation + taken.graphs + taken.runtime
    cache = None if demand.sequences is None else demand.sequences * capacity.promised_cache
    state = None if demand.sequences is None else demand.sequences * capacity.promised_state
    memory = Memory(
        capacity_bytes=total,
        usable_bytes=usable,
        weights_bytes=taken.weights,
        kv_cache_bytes=cache,
        state_bytes=state,
        activation_bytes=taken.activation,
        cuda_graph_bytes=taken.graphs,
        runtime_bytes=taken.runtime,
        headroom_bytes=total - fixed - taken.pool,
        free_bytes=None if cache is None or state is None else usable - fixed - cache - state,
        fits=not refusal.text,
        weights_total_bytes=taken.weights_total,
        kv_pool_bytes=taken.pool,
        kv_capacity_tokens=capacity.tokens,
        max_concurrency=capacity.concurrency,
    )
    lines = {
        "weights": taken.weights,
        "activations": taken.activation,
        "CUDA graphs": taken.graphs,
        "runtime": taken.runtime,
    }
    load = {"cache of the load": cache or 0.0, "state of the load": state or 0.0}
    return MemoryLedger(
        memory=memory,
        needed={**lines, **{name: value for name, value in load.items() if value}},
        reserved={**lines, "cache pool": taken.pool, "not reserved": memory.headroom_bytes},
        refusal=refusal.text,
        refusal_values=refusal.values,
        largest_context=capacity.longest,
        guaranteed_concurrency=capacity.concurrency,
        expected_concurrency=capacity.expected,
        notes=notes,
    )


def gib(value: float) -> str:
    """Bytes as engines print them: GiB, two decimals."""
    return f"{value / 2**30:,.2f} GiB"
