"""An objective is missed even at the favourable end of the estimate's band.

The hint names what moves the figure: what is considered and would meet it, else what binds.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks import objective_at_risk
from planner.checks._engine_layouts import valid_for
from planner.domain.evaluation import ObjectiveOutcome, PlanResult
from planner.domain.plan import Plan
from planner.evaluation.speed_ways import speed_ways
from planner.findings import Finding, Severity, Verdict
from planner.format import quantity

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


def _hint(item: ObjectiveOutcome, plan: Plan, result: PlanResult) -> str:
    """What would meet it, tried; where nothing does, what binds."""
    general = objective_at_risk.hint(item, plan, result)
    ways = speed_ways(plan, result.detail, item, valid_for(plan)) if item.estimate is not None else ()
    if not ways:
        return general
    considered = f"{general} " if general.startswith("Considered") else ""
    limit = quantity(item.estimate, objective_at_risk.dimension_of(item, result))
    texts = (*(way.text for way in ways), f"a limit of {limit}")
    return f"{considered}Any one of these meets it, by the estimate: {'; '.join(texts)}."


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for item in result.shipped.objectives:
        if item.outcome != "missed":
            continue
        yield Finding(
            ID,
            SEVERITY,
            objective_at_risk.sentence(item, result, "is missed"),
            _hint(item, plan, result),
            item.path,
            {"limit": item.limit, "estimate": item.estimate, "low": item.low, "high": item.high},
            verdict=Verdict.INFEASIBLE,
        )
