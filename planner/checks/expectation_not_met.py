"""`metadata.expect` records the verdict that this spec is kept for, and it has another one."""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "expectation-not-met"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: kept, expect: infeasible}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
"""
PASSING = FAILING.replace("concurrency: 16", "concurrency: 64")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    """Nothing: the verdict is known only after waivers, so the pipeline asks `mismatch`."""
    return iter(())


def mismatch(expected: Verdict, found: Verdict) -> Finding:
    """An error of its own: it changes no verdict, it fails the run."""
    return Finding(
        ID,
        SEVERITY,
        f"the spec expects {expected.value} and the verdict is {found.value}",
        "Change metadata.expect if this is the new truth, or find out what changed.",
        "/metadata/expect",
        {"expected": expected.value, "verdict": found.value},
    )
