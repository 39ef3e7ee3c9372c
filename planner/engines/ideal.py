"""The textbook's engine: weights at nominal bits for every parameter, and the cache of the declared load. Nothing else.

capacity is the marketed (or declared) memory. It fits if weights + cache and state of the declared load <= capacity -
what is declared reserved. The pool is everything that the weights leave; headroom is what the load leaves of it:
capacity = reserved by others + weights + kv_cache + state + headroom.
"""

from __future__ import annotations

from planner.domain.engine import EngineSettings
from planner.domain.evaluation import Memory
from planner.domain.plan import Plan
from planner.domain.shards import Parallel, total_weight_bytes, weight_bytes
from planner.engines import MemoryLedger, _cache_layers, _demand
from planner.engines._defaults import fill
from planner.engines._ledger import gib
from planner.physics.paged_cache import longest_length

NAME = "ideal"
TITLE = "Ideal engine"
FRACTION_KEY: str | None = None
CHARGES_DRAFT = False
STORES_SCORES = False
PROPERTIES: dict[str, object] = {}
LONGEST = 2**40


def with_defaults(plan: Plan) -> EngineSettings:
    """Only the context length: the model's own."""
    return fill(plan.engine, max_model_len=plan.model.max_context)


def default_levers(settings: EngineSettings, *_known: object) -> tuple[str, ...]:
    """None: it decodes in batches and stores no scores, which the textbook takes for granted."""
    return ()


def memory(plan: Plan, sequences: float | None = None) -> MemoryLedger:
    """Bytes of the fullest rank. sequences: on one replica, in place of what the load declares."""
    parallel, hardware = Parallel.of(plan.engine), plan.hardware
    capacity = _capacity(plan)
    usable = capacity - hardware.reserved_bytes
    weights = weight_bytes(plan.model, parallel, nominal=True)
    stages = (_cache_layers.kinds(plan.model, plan.cache_format, parallel, stage) for stage in range(parallel.pipeline))
    demand = _demand.of(plan, sequences)
    found = max(stages, key=lambda kinds: _cache_layers.sequence_bytes(kinds, max(1, demand.promised_tokens)))
    state = _cache_layers.state_bytes(found)
    cached = demand.mean(lambda tokens: _cache_layers.sequence_bytes(found, tokens) - state)
    load = demand.sequences or 0.0
    pool = max(0.0, usable - weights)
    left = usable - weights - load * (cached + state)
    concurrency = _over(pool, _cache_layers.sequence_bytes(found, demand.promised_tokens))
    replica = None if concurrency is None else concurrency * parallel.data
    figures = Memory(
        capacity_bytes=capacity,
        usable_bytes=usable,
        weights_bytes=weights,
        kv_cache_bytes=None if demand.sequences is None else load * cached,
        state_bytes=None if demand.sequences is None else load * state,
        activation_bytes=0.0,
        cuda_graph_bytes=0.0,
        runtime_bytes=0.0,
        headroom_bytes=left,
        free_bytes=None if demand.sequences is None else left,
        fits=left >= 0.0,
        weights_total_bytes=total_weight_bytes(plan.model, parallel, nominal=True),
        kv_pool_bytes=pool,
        kv_capacity_tokens=_tokens(pool, found, replica, demand.promised_tokens, parallel.data),
        max_concurrency=replica,
    )
    expected = _over(pool, _cache_layers.sequence_bytes(found, demand.expected_tokens))
    needed = {"weights": weights, "cache of the load": load * cached, "state of the load": load * state}
    short = {"needed_bytes": usable - left, "available_bytes": usable}
    return MemoryLedger(
        memory=figures,
        needed={name: value for name, value in needed.items() if value},
        reserved={"weights": weights},
        refusal="" if figures.fits else _refusal(weights, load * (cached + state), usable),
        refusal_values={} if figures.fits else {**short, "reason": "load"},
        largest_context=longest_length(lambda tokens: _cache_layers.sequence_bytes(found, tokens) <= pool, LONGEST),
        guaranteed_concurrency=replica,
        expected_concurrency=None if expected is None else expected * parallel.data,
    )


def start_line(plan: Plan, result: MemoryLedger) -> str:
    """It prints nothing."""
    return ""


def _capacity(plan: Plan) -> float:
    """Declared, else marketed, else what the framework reports."""
    if plan.hardware.usable_bytes is not None:
        return plan.hardware.usable_bytes
    card = plan.hardware.accelerator
    return card.marketed_bytes if card.marketed_bytes is not None else card.capacity_bytes


def _over(pool: float, one: float) -> float | None:
    return pool / one if one > 0 else None


def _tokens(
    pool: float, found: dict[_cache_layers.CacheKind, int], concurrency: float | None, promised: int, ranks: int
) -> float | None:
    """Pool / bytes of a token; where windows or states break the proportion, sequences x tokens promised."""
    if all(kind.window is None and not kind.state_bytes for kind in found):
        each = _over(pool, _cache_layers.full_token_bytes(found))
        return None if each is None else each * ranks
    return None if concurrency is None else concurrency * promised


def _refusal(weights: float, cache: float, usable: float) -> str:
    return f"Weights {gib(weights)} and the cache of the load {gib(cache)} are more than {gib(usable)}."


def inside_fraction(plan: Plan) -> str:
    """None is taken."""
    return "It takes no fraction and reserves nothing: only what the load needs is counted."
