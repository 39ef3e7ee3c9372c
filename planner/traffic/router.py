"""Which engine gets a request: in turn, the one with the fewest requests, or the one that has most of its prompt.

    round-robin    each in turn
    least-loaded   fewest requests, running and waiting
    prefix-aware   largest 3 x share of the prompt that is cached there + 2 x (1 - share of its cache in use)
                   + 2 x (1 - how long its queue is, from the shortest to the longest of all)

Ties go in turn. Source of the last: the endpoint picker of the Kubernetes Gateway API Inference Extension, its scorers
and their default weights (prefix cache 3, queue 2, cache utilisation 2).
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.traffic.engine import UNBOUNDED_BLOCKS, EngineSimulation
from planner.traffic.request import Request

ROUTERS = ("round-robin", "least-loaded", "prefix-aware")
PREFIX_WEIGHT, QUEUE_WEIGHT, CACHE_WEIGHT = 3.0, 2.0, 2.0


def choose(
    router: str, engines: Sequence[EngineSimulation], serving: Sequence[int], request: Request, turn: int
) -> int:
    """Index of the engine, of those that serve. turn: requests placed before, which breaks ties in turn."""
    if router == "round-robin" or len(serving) == 1:
        return serving[turn % len(serving)]
    size = len(engines)
    if router == "least-loaded":
        return min(serving, key=lambda index: (engines[index].load, (index - turn) % size))
    queues = {index: engines[index].waiting for index in serving}
    shortest, longest = min(queues.values()), max(queues.values())

    def score(index: int) -> float:
        queue = (longest - queues[index]) / (longest - shortest) if longest > shortest else 1.0
        return _of_engine(engines[index], request) + QUEUE_WEIGHT * queue

    return min(serving, key=lambda index: (-score(index), (index - turn) % size))


def _of_engine(engine: EngineSimulation, request: Request) -> float:
    found = sum(engine.prefixes.look_up(request.prefixes)) if request.prefixes else 0
    unlimited = engine.pool.total == UNBOUNDED_BLOCKS
    used = engine.load / engine.limits.seats if unlimited else engine.pool.used / engine.pool.total
    return PREFIX_WEIGHT * found / request.prompt + CACHE_WEIGHT * (1.0 - used)
