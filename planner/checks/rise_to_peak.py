"""The load rises to its peak faster than replicas start, and an objective does not hold until they serve.

Simulated: the load goes from its rate to `peak` times it within `ramp` (at once where none is declared), scaling looks
at the requests in the replicas every 15 s, and what it orders serves after `start_time`. Judged from the beginning of
the rise until what is ordered at its end serves. A higher `min`, a shorter start or fewer `target_requests` closes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.checks._disturbed import disturbed, sentences, values
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.format import duration, rate

ID = "rise-to-peak"
SEVERITY = Severity.WARNING
# A prompt takes 2 x 7e9 x 1000 / 40e12 = 0.35 s: one replica serves 2.9 a second, and 4 come for at least 60 s.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: outrun}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  replicas: {min: 1, max: 4, start_time: 60 s}
engine: {name: ideal}
workload: {load: {rate: 1 request/s, peak: 4}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 2}]}
objectives: {time_to_first_token: {p95: 3 s}}
"""
PASSING = FAILING.replace("min: 1", "min: 3")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    load = plan.workload.load
    for found, worst, items in disturbed(result, ID):
        low = load.rate_per_s or 0.0
        again = "" if found.recovers_s is None else _again(found.recovers_s)
        ramp = f"within {duration(load.ramp_s)}" if load.ramp_s else "at once"
        yield Finding(
            ID,
            SEVERITY,
            f"while the load rises from {rate(low, 'requests')} to {rate(low * load.peak, 'requests')} {ramp} and "
            f"scaling goes from {found.serving} to {found.of} replicas, "
            + sentences(found, items, result, worst)
            + again,
            f"Keep {found.of} replicas (`min: {found.of}`), shorten the start, scale earlier (`target_requests`), "
            "or declare how slowly the load rises (`ramp`).",
            "/hardware/replicas",
            values(found, items),
            verdict=Verdict.AT_RISK,
        )


def _again(seconds: float) -> str:
    if math.isinf(seconds):
        return "; within the run it does not hold again"
    return f"; it holds again after {duration(seconds)}"
