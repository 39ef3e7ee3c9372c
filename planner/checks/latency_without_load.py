"""A latency is bound without saying under how much load, or a load is declared that no latency bounds.

One request alone is nearly always fast; the promise is about many.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.objectives_incomplete import KINDS
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "latency-without-load"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: one-sided}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 8}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
objectives: {output_tokens_per_second: {min: 1 token/s}}
"""
PASSING = FAILING.replace("objectives: {", "objectives: {inter_token_latency: {mean: 1 s}, ")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    metrics = {item.objective.partition(".")[0] for item in result.shipped.objectives}
    if not metrics:
        return
    bound = metrics.intersection((*KINDS["latency"], "output_tokens_per_second_per_user"))
    load = plan.workload.load
    several = (load.concurrency or 1.0) > 1 or load.kind in ("rate", "trace", "sessions")
    if several and not bound:
        yield Finding(
            ID,
            SEVERITY,
            "the load has several requests at once, and no objective bounds a latency",
            "Add objectives.inter_token_latency or objectives.time_to_first_token.",
            "/objectives",
        )
    elif bound and not several and load.kind == "concurrency" and "deadline" not in metrics:
        yield Finding(
            ID,
            SEVERITY,
            "a latency is bound at a concurrency of one: it says nothing of a second request",
            "Declare the concurrency or rate that the promise is made for.",
            "/workload/load/concurrency",
        )
