"""A lever of the spec moves no figure here.

It is applied where it cannot work (its reason is given), or what it lowers does not bind. Levers that an engine
turns on by itself are not held against the spec.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import levers
from planner.domain.evaluation import Evaluation, PlanResult
from planner.domain.levers import LeverUse
from planner.domain.plan import Plan
from planner.evaluation.configure import configure
from planner.findings import Finding, Severity

ID = "lever-without-effect"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: idle-lever}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 500, output_tokens: 500}]}
levers: [{use: prefix-caching}]
"""
PASSING = FAILING.replace("output_tokens: 500", "output_tokens: 500, prefix: {shared_tokens: 400}")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for step in result.steps:
        use = step.lever
        if use.status == "reject" or use.source == "default" or step.note or step.effect is None:
            continue
        if step.effect and not hasattr(levers.get(use.use), "idle"):
            continue
        if step.compared is not None and _judged_otherwise(*step.compared):
            continue
        reason = "" if use.use == "change" else _reason(_before(plan, use.path), use)
        if step.effect and not reason:
            continue
        yield Finding(
            ID,
            SEVERITY,
            f"{use.title} {'only costs' if step.effect else 'has no effect'} here"
            + (f": {reason}" if reason else ": what it lowers does not bind"),
            "Remove it, or declare what it works on.",
            use.path,
            {"lever": use.use},
        )


def _reason(before: Plan, use: LeverUse) -> str:
    """Why it cannot work, else why it moves nothing at this load; "" where the lever knows neither."""
    module = levers.get(use.use)
    said: str = module.applies(before, use) or getattr(module, "without_effect", lambda *_: "")(before, use)
    return said


def _judged_otherwise(before: Evaluation, after: Evaluation) -> bool:
    """Whether what is asked for changed: limits, their outcomes, or the estimates held against them."""
    return before.objectives != after.objectives


def _before(plan: Plan, path: str) -> Plan:
    """The plan as the lever found it."""
    below = []
    for item in plan.levers:
        if item.path == path:
            break
        if item.status == "adopt":
            below.append(item)
    return configure(plan, below)
