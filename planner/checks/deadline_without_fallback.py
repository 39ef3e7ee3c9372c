"""A deadline binds the worst case, and the spec does not say what happens when it is missed all the same.

A control loop that waits is not safe: name what it does then (`fallback: hold-position`).
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "deadline-without-fallback"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: robot}
model: {architecture: {parameters: 2e9, layers: 24, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 64 GB, bandwidth: 200 GB/s, compute: {fp16: 60 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {period: 1 s, actions: 1}, classes: [{name: all, prompt_tokens: 300, output_tokens: 10}]}
objectives: {deadline: {max: 1 s}}
"""
PASSING = FAILING.replace("max: 1 s", "max: 1 s, fallback: hold-position")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    everywhere = (*plan.objectives.limits, *(limit for item in plan.workload.classes for limit in item.objectives))
    for limit in everywhere:
        if limit.metric == "deadline" and not limit.fallback:
            yield Finding(
                ID,
                SEVERITY,
                "the deadline names no fallback for the time that it is missed",
                "Add `fallback: …`, what the system does then.",
                limit.path,
            )
