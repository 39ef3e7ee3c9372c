"""An objective is missed even at the favourable end of the estimate's band.

The hint names what moves the figure: what is considered and would meet it, else what binds.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks import objective_at_risk
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "objective-missed"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: too-slow}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
objectives: {inter_token_latency: {mean: 30 ms}}
"""
PASSING = FAILING.replace("30 ms", "32 ms")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for item in result.shipped.objectives:
        if item.outcome != "missed":
            continue
        yield Finding(
            ID,
            SEVERITY,
            objective_at_risk.sentence(item, result, "is missed"),
            objective_at_risk.hint(item, plan, result),
            item.path,
            {"limit": item.limit, "estimate": item.estimate, "low": item.low, "high": item.high},
            verdict=Verdict.INFEASIBLE,
        )
