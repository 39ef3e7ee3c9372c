"""The contexts of live sessions are more than the cache holds, so turns compute again what an earlier one computed.

Prefix caching saves a session's prompt only while its blocks stay: between two turns they are the first to be evicted.
The working set is sessions x the context that each has reached; what is above the pool is computed again at every
turn, in turns with short pauses most of all. Fewer sessions a replica, a smaller cache format, offload of the cache
to the host, or routing that keeps a session on its replica help; a longer cache alone does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.domain.workload import RequestClass
from planner.evaluation.live_sessions import LiveSessions, live_sessions
from planner.findings import Finding, Severity
from planner.format import count, duration, memory, percent

ID = "session-working-set"
SEVERITY = Severity.WARNING
LEAST = 0.02
"""Of prompt tokens that could be found and are not, in a run: below it nothing is said."""
# 50 agents that grow to 60,000 tokens on a pool of some 430,000: https://github.com/vllm-project/vllm/issues/52113
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: agents}
model: {architecture: {parameters: 8e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11", max_model_len: 65536}
workload:
  load: {sessions: 50}
  classes:
    - name: agent
      prompt_tokens: 2000
      output_tokens: 300
      session: {turns: 30, turn_delay: 3 s, context_growth: 2000}
"""
PASSING = FAILING.replace("sessions: 50", "sessions: 4")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    held, live = result.shipped.memory.kv_capacity_tokens, _live(plan)
    techniques = result.detail.plan.techniques
    caching = techniques.prefix_caching and (
        techniques.kv_offload is None or result.detail.served.simulated is not None
    )
    grown = [item for item in plan.workload.classes if item.session is not None and item.session.turns > 1]
    if not held or not live or not caching or not grown or plan.engine.name == "ideal":
        return
    share = math.fsum(item.share for item in grown)
    mean = math.fsum(item.share * _mean(item) for item in grown) / share
    largest = max(_last(item) for item in grown)
    here = live * share / (math.fsum(item.share for item in plan.workload.classes) or 1.0)
    working = here * mean
    if working <= held:
        return
    simulated = live_sessions(result.detail)
    if simulated is not None and simulated.possible - simulated.hit_rate < LEAST:
        return
    lost = 1.0 - held / working
    again = lost * mean if simulated is None else simulated.recomputed_tokens / simulated.turns
    cache = result.shipped.memory.kv_pool_bytes
    yield Finding(
        ID,
        SEVERITY,
        f"{here:g} live sessions of a replica hold {count(working)} tokens between turns ({count(mean)} each on "
        f"average, {count(largest)} at the end), its cache holds {count(held)} ({memory(cache)} a card): about "
        f"{count(round(again))} tokens of every turn are computed again{_found(simulated)}",
        f"At most {int(held / mean)} sessions a replica, kv-offload to the host, a smaller cache format, or a "
        "session's turns on one replica.",
        "/workload/load",
        {
            "sessions": here,
            "working_set_tokens": working,
            "kv_capacity_tokens": held,
            "tokens_per_session": mean,
            "tokens_computed_again_per_turn": again,
            "largest_sessions": int(held / mean),
            "hit_rate": simulated.hit_rate if simulated else None,
            "hit_rate_possible": simulated.possible if simulated else None,
            "recomputed_s_per_session": simulated.recomputed_s if simulated else None,
        },
    )


def _found(simulated: LiveSessions | None) -> str:
    """What the run found in the cache, and the engine time of a session that goes into computing the rest again."""
    if simulated is None:
        return ""
    return (
        f"; simulated, a prompt finds {percent(simulated.hit_rate)} of its tokens where {percent(simulated.possible)} "
        f"have come before, and {duration(simulated.recomputed_s)} of engine time a session go into them"
    )


def _live(plan: Plan) -> float | None:
    """Sessions alive in one replica: declared, or those that a rate of new ones keeps alive by their pauses alone."""
    load, replicas = plan.workload.load, max(1, plan.hardware.replicas.minimum)
    if load.sessions is not None:
        return load.sessions / replicas
    if load.rate_per_s is None:
        return None
    classes = [item for item in plan.workload.classes if item.session is not None]
    total = math.fsum(item.share for item in plan.workload.classes) or 1.0
    lasting = math.fsum(
        item.share * (item.session.turns - 1) * item.session.turn_delay_s for item in classes if item.session
    )
    return load.rate_per_s * lasting / total / replicas


def _mean(item: RequestClass) -> float:
    """Tokens of a session after a turn, mean over its turns."""
    session = item.session
    grown = session.context_growth_tokens * (session.turns - 1) / 2 if session else 0.0
    return (item.prompt.mean if item.prompt else 0.0) + (item.output.mean if item.output else 0.0) + grown


def _last(item: RequestClass) -> float:
    session = item.session
    grown = session.context_growth_tokens * (session.turns - 1) / 2 if session else 0.0
    return _mean(item) + grown
