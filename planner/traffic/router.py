"""Which engine gets a request: in turn, the one with the fewest requests, or the one where it costs the least.

    round-robin    each in turn
    least-loaded   fewest requests, running and waiting
    prefix-aware   fewest tokens to compute and to hold: new prompt tokens there + prompt tokens that wait there
                   + tokens of its cache that are in use

Source of the last: the key-value router of NVIDIA Dynamo, cost = overlap weight x prefill blocks + decode blocks,
at its default weight of 1 (docs.nvidia.com/dynamo, KV Router).
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.traffic.engine import EngineSimulation
from planner.traffic.request import Request

ROUTERS = ("round-robin", "least-loaded", "prefix-aware")


def choose(
    router: str, engines: Sequence[EngineSimulation], serving: Sequence[int], request: Request, turn: int
) -> int:
    """Index of the engine, of those that serve. turn: requests placed before, which breaks ties in turn."""
    if router == "round-robin" or len(serving) == 1:
        return serving[turn % len(serving)]
    cost = _tokens if router == "prefix-aware" else _requests
    size = len(engines)
    return min(serving, key=lambda index: (cost(engines[index], request), (index - turn) % size))


def _requests(engine: EngineSimulation, request: Request) -> int:
    return engine.load


def _tokens(engine: EngineSimulation, request: Request) -> int:
    found = engine.prefixes.look_up(request.prefixes) if request.prefixes else request.cached
    return request.prompt - found + engine.tokens + engine.pool.used * engine.pool.size
