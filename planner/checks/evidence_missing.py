"""A lever that changes the output ships without evidence that the output is still good enough.

Each such lever names what has to be evaluated, on the combination that ships. Until then the plan is unproven:
feasible on paper.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.quoting import quoted

ID = "evidence-missing"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: unproven}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
levers: [{use: quantize-weights, format: int8}]
"""
PASSING = FAILING.replace("format: int8", "format: int8, status: consider")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for step in result.steps:
        use = step.lever
        if use.lever_class != "output-changing" or use.status != "adopt":
            continue
        missing = [item.evaluate.rstrip(".") for item in step.obligations if item.evidence != "covered"]
        if missing:
            given = ", ".join(quoted(name) for name in use.evidence[:3])
            yield Finding(
                ID,
                SEVERITY,
                f"{use.title} changes the output and ships without evidence"
                + (f" that is read: {given} is not judged by this version" if given else ""),
                f"Evaluate: {'; '.join(missing)}. Or set `status: consider` until that is done.",
                use.path,
                {"lever": use.use, "missing": missing},
                verdict=Verdict.UNPROVEN,
            )
