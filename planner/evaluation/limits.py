"""The largest concurrency and the longest context that still fit, all else as declared."""

from __future__ import annotations

import math

from planner.domain.plan import Plan
from planner.domain.shards import Parallel, cache_bytes, state_bytes
from planner.evaluation import starting
from planner.evaluation.extra_memory import ledger_of

LONGEST = 2**24


def largest_concurrency(plan: Plan) -> float | None:
    """Whole sequences, each at its promised length, that every replica together holds. None where nothing is cached."""
    memory = ledger_of(plan).memory
    if memory.max_concurrency is None:
        return None
    if not memory.fits and plan.engine.name != "ideal":
        return float(starting.largest_sequences(plan) * max(1, plan.hardware.replicas.minimum))
    return math.floor(memory.max_concurrency + 1e-9) * max(1, plan.hardware.replicas.minimum)


def largest_context(plan: Plan) -> float | None:
    """Tokens a sequence at the declared concurrency (one sequence where the load names none). Bisection.

    What a rank may give to the cache: the engine's pool, or for `ideal` what the weights leave.
    """
    memory = ledger_of(plan).memory
    share = engines_share(plan)
    if not memory.fits and plan.engine.name != "ideal":
        return float(starting.longest_context(plan, share))
    pool = memory.kv_pool_bytes
    parallel = Parallel.of(plan.engine)

    state = state_bytes(plan.model, parallel)

    def needed(tokens: int) -> float:
        return float(cache_bytes(plan.model, tokens, plan.cache_format, parallel) + state) * share

    if not any(mixer.cache for group in plan.model.groups for mixer in group.mixers) or needed(1) > pool:
        return None if needed(1) <= pool else 0.0
    low, high = 1, LONGEST
    if needed(high) <= pool:
        return plan.model.max_context
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(middle) <= pool else (low, middle)
    return float(min(low, plan.model.max_context or low))


def engines_share(plan: Plan) -> float:
    """Sequences of the declared concurrency on one data-parallel rank; one where the load names none."""
    concurrency = plan.workload.load.concurrency or 1.0
    ranks = max(1, plan.hardware.replicas.minimum) * plan.engine.data_parallel_size
    return max(concurrency / ranks, 1.0)
