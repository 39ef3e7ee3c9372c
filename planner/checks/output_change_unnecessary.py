"""A lever that changes the output ships although the output-preserving ones meet every objective at no higher cost.

Risk to the output buys nothing that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import Evaluation, PlanResult
from planner.domain.plan import Plan
from planner.evaluation import evaluate
from planner.evaluation.configure import adopted, configure
from planner.findings import Finding, Severity

ID = "output-change-unnecessary"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: needless}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
objectives: {inter_token_latency: {mean: 40 ms}}
levers: [{use: quantize-weights, format: int8}]
"""
PASSING = FAILING.replace("40 ms", "20 ms")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    changing = [item for item in adopted(plan) if item.lever_class == "output-changing"]
    if not changing or not result.shipped.objectives:
        return
    preserving = evaluate(configure(plan, [item for item in adopted(plan) if item.lever_class != "output-changing"]))
    if not _suffices(preserving, result.shipped):
        return
    names = ", ".join(item.title for item in changing)
    yield Finding(
        ID,
        SEVERITY,
        f"without {names} every objective is met too, at no higher cost",
        f"Set `status: consider` on {names}, or declare the objective that needs it.",
        changing[0].path,
        {"levers": [item.use for item in changing]},
    )


def _suffices(preserving: Evaluation, shipped: Evaluation) -> bool:
    """It fits, meets everything, and costs no more: by the objective on cost where there is one, else by the hour."""
    met = preserving.memory.fits and all(item.outcome == "met" for item in preserving.objectives)
    now, then = shipped.cost.usd_per_hour, preserving.cost.usd_per_hour
    return met and (now is None or then is None or then <= now * (1 + 1e-9))
