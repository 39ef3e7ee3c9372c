"""An objective is missed or at risk under a declared rate: the rate up to which all of them hold.

Found by bisection on simulated runs of the shipped stack. Below it every objective is met by the estimate; the finding
names what breaks first above it. Spread the load over more replicas, or shed what is beyond.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.capacity import known_largest_rate
from planner.findings import Finding, Severity
from planner.format import rate

ID = "rate-that-holds"
SEVERITY = Severity.NOTE
# A prompt of 2,000 tokens takes 2 x 7e9 x 2000 / 40e12 = 0.7 s alone: 0.8 s of TTFT leaves little for a queue.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: rate}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload: {load: {rate: 0.4 request/s}, classes: [{name: all, prompt_tokens: 2000, output_tokens: 50}]}
objectives: {time_to_first_token: {p95: 900 ms}}
"""
PASSING = FAILING.replace("900 ms", "30 s")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    served = result.detail.served
    if plan.workload.load.kind != "rate" or served.simulated is None or served.operating.overloaded:
        return
    if all(item.outcome in ("met", "unknown") for item in result.shipped.objectives):
        return
    found = known_largest_rate(result.detail)
    if found is None:
        return
    offered = (plan.workload.load.rate_per_s or 0.0) * plan.workload.load.peak
    broken = ", ".join(found.breaks)
    noun = "requests" if served.service.mix.turns == 1.0 else "sessions"
    said = (
        f"every objective holds up to {rate(found.requests_per_s, noun)}; above it breaks {broken}"
        if found.requests_per_s
        else f"no rate holds every objective here: {broken} is missed at the lowest"
    )
    yield Finding(
        ID,
        SEVERITY,
        f"{said} ({rate(offered, noun)} are offered)",
        "Spread the load over more replicas, turn away what is beyond (workload.queue), or change what breaks.",
        "/workload/load",
        {
            "largest_rate_that_holds_per_s": found.requests_per_s,
            "breaks": list(found.breaks),
            "offered_requests_per_s": offered,
        },
    )
