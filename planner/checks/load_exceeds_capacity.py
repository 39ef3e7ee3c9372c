"""Requests arrive faster than they can be served, so the queue grows without bound and no latency exists.

Capacity is what the seats and the cache let one engine serve; the hint gives the largest rate that holds, and how
many replicas would serve the declared one at seven tenths of it. A control loop does not queue: it runs slower than it
should, and the hint gives the periods that it keeps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation import falls_behind
from planner.evaluation.capacity import known_largest_rate
from planner.findings import Finding, Severity, Verdict
from planner.format import duration, rate

ID = "load-exceeds-capacity"
SEVERITY = Severity.ERROR
COMFORTABLE = 0.7
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: overloaded}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {rate: 50 request/s}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
"""
PASSING = FAILING.replace("50 request/s", "0.5 request/s")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    operating = result.detail.served.operating
    if falls_behind(plan, result.detail.served):
        yield _loop(plan, operating.utilisation)
    most = result.shipped.throughput.max_requests_per_s
    if not operating.overloaded or not most:
        return
    load = plan.workload.load
    turns = result.detail.served.service.mix.turns
    noun = "requests" if turns == 1.0 else "sessions"
    offered = (load.rate_per_s or 0.0) * load.peak * turns
    arrive = "" if turns == 1.0 else f" ({rate(offered / turns, noun)})"
    replicas = max(1, result.detail.running.hardware.replicas.most)
    wanted = math.ceil(offered / (most / replicas) / COMFORTABLE)
    holds = known_largest_rate(result.detail)
    largest = holds.requests_per_s if holds is not None else most / load.peak / turns
    yield Finding(
        ID,
        SEVERITY,
        f"{rate(offered, 'requests')}{arrive} are offered and {rate(most, 'requests')} can be served: "
        f"{offered / most:.2f} times the capacity, so the queue grows without bound and no latency is given",
        _hint(rate(largest, noun) if largest else "", wanted, holds is not None and bool(plan.objectives.limits)),
        "/workload/load",
        {
            "offered_requests_per_s": offered,
            "max_requests_per_s": most,
            "utilisation": offered / most,
            "replicas": wanted,
            "largest_rate_that_holds_per_s": largest,
        },
        verdict=Verdict.INFEASIBLE,
    )


def _loop(plan: Plan, utilisation: float) -> Finding:
    """A control loop whose inference is not done when the next one is due."""
    load = plan.workload.load
    due = (load.period_s or 0.0) * load.actions
    actions = math.ceil(load.actions * utilisation)
    return Finding(
        ID,
        SEVERITY,
        f"one inference is due every {duration(due)} and takes {duration(due * utilisation)}: the loop falls behind",
        f"One inference for every {actions} periods (load.actions), a period of"
        f" {duration(due * utilisation / load.actions)}, or a faster inference.",
        "/workload/load",
        {"due_s": due, "inference_s": due * utilisation, "utilisation": utilisation, "actions": actions},
        verdict=Verdict.INFEASIBLE,
    )


def _hint(largest: str, replicas: int, objectives: bool) -> str:
    """The largest rate at which every objective holds, by simulation; or how many replicas."""
    more = f"run {replicas} replicas (at {COMFORTABLE:g} of their capacity)"
    if objectives and not largest:
        return f"No rate holds the objectives on this deployment; {more}, and see what they miss then."
    what = " (every objective holds, simulated)" if objectives else ""
    return f"Offer at most {largest}{what}, or {more}."
