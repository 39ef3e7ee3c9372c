"""The cache that a load without a fixed number of sequences is expected to hold: expected, never guaranteed."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.domain.plan import Plan
from planner.domain.shards import Parallel, state_bytes
from planner.engines import MemoryLedger
from planner.evaluation.latency import Served, seats_of

GUARANTEED, EXPECTED = "guaranteed", "expected"


def with_load(plan: Plan, ledger: MemoryLedger, served: Served, fitting: float | None) -> MemoryLedger:
    """The ledger with its basis, and with the expected cache where the load does not fix one.

    cache = pool x min(sequences / sequences that fit at mean length, 1) - state, bytes of one rank.
    fitting: sequences of mean length that one rank holds.
    """
    memory = ledger.memory
    if memory.kv_cache_bytes is not None:
        return replace(ledger, memory=replace(memory, cache_basis=GUARANTEED))
    running = sequences(plan, served, fitting)
    held = ledger.expected_concurrency
    if running is None or not held or not memory.fits:
        return ledger
    taken = memory.kv_pool_bytes * min(running * plan.engine.data_parallel_size / held, 1.0)
    state = min(running * float(state_bytes(plan.model, Parallel.of(plan.engine))), taken)
    fixed = memory.weights_bytes + memory.activation_bytes + memory.cuda_graph_bytes + memory.runtime_bytes
    changed = replace(
        memory,
        kv_cache_bytes=taken - state,
        state_bytes=state,
        free_bytes=memory.usable_bytes - fixed - taken,
        cache_basis=EXPECTED,
    )
    lines = {"cache of the load": taken - state, "state of the load": state}
    return replace(ledger, memory=changed, needed={**ledger.needed, **{k: v for k, v in lines.items() if v}})


def sequences(plan: Plan, served: Served, fitting: float | None) -> float | None:
    """On one rank, on average: all seats of an endless queue; rate x time in the system (Little 1961) of arrivals."""
    seats, operating = seats_of(plan, fitting), served.operating
    match plan.workload.load.kind:
        case "offline":
            return seats if math.isfinite(seats) else operating.batch
        case "rate" if operating.overloaded:
            return seats if math.isfinite(seats) else operating.batch
        case "rate":
            inside = served.latency.request_latency_s.mean
            return None if inside is None else min(operating.rate_per_s * inside, seats)
    return None
