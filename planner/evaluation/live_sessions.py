"""What the prefix cache finds of live sessions' contexts, simulated, against what it could find.

possible = share of prompt tokens that the turn before has left: (T - 1)/T (p + o - 1 + g (T - 2)/2) over the mean
           prompt, of T turns of prompts p that grow by g, with answers of o tokens
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.evaluation import Detail
from planner.evaluation.mix import mix_of, turns_of


@dataclass(frozen=True, slots=True)
class LiveSessions:
    """hit_rate: share of prompt tokens found. turns: of a session, mean. recomputed_tokens, recomputed_s: of a session,
    what the cache no longer has, and the engine time to compute it again.
    """

    hit_rate: float
    possible: float
    turns: float
    recomputed_tokens: float
    recomputed_s: float


def live_sessions(found: Detail) -> LiveSessions | None:
    """None without sessions, without a prefix cache, or where nothing was simulated."""
    plan, simulated = found.running, found.served.simulated
    if simulated is None or not plan.techniques.prefix_caching:
        return None
    many = turns_of(plan)
    if many <= 1.0:
        return None
    mix, service = mix_of(plan), found.served.service
    hit, possible = simulated.outcome.hit_rate, mix.cached / max(mix.prompt, 1.0)
    lost = max(possible - hit, 0.0) * mix.prompt
    fresh = max(mix.prompt - mix.cached, 1.0)
    more = service.prefill_s(fresh + lost, max(mix.cached - lost, 0.0)) - service.prefill_s(fresh, mix.cached)
    return LiveSessions(hit, possible, many, lost * many, max(more, 0.0) * many)
