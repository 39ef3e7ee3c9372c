"""The limit of an objective lies inside the band of its estimate: neither met nor missed.

A measurement narrows the band; more margin leaves it behind. `--strict` makes it fail.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks import _cost_ways
from planner.domain.evaluation import ObjectiveOutcome, PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.format import Dimension, quantity

ID = "objective-at-risk"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: close}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: vllm, max_model_len: 8192}
workload: {load: {concurrency: 4}, classes: [{name: all, prompt_tokens: 500, output_tokens: 500}]}
objectives: {inter_token_latency: {mean: 20 ms}}
"""
PASSING = FAILING.replace("20 ms", "200 ms")

DIMENSIONS: dict[str, Dimension] = {
    "goodput": "requests/s",
    "output_tokens_per_second": "tokens/s",
    "output_tokens_per_second_per_user": "tokens/s",
    "cost": "usd/hour",
    "cost_per_million_output_tokens": "usd",
    "cost_per_million_tokens": "usd",
    "cost_per_request": "usd",
    "energy_per_output_token": "joules",
    "energy_per_request": "joules",
    "power": "watts",
    "rejected_requests": "share",
    "memory_headroom": "share",
}


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for item in result.shipped.objectives:
        if item.outcome != "at-risk":
            continue
        yield Finding(
            ID,
            SEVERITY,
            sentence(item, result, "is at risk"),
            "Measure it (`planner report` says how), or leave more margin.",
            item.path,
            {"limit": item.limit, "estimate": item.estimate, "low": item.low, "high": item.high},
            verdict=Verdict.AT_RISK,
        )


def sentence(item: ObjectiveOutcome, result: PlanResult, what: str) -> str:
    """Name, what became of it, estimate and band against the limit."""
    dimension = dimension_of(item, result)
    name = f"{item.objective} of {item.request_class}" if item.request_class else item.objective
    bound = "at most" if item.bound == "max" else "at least"
    limit = f"{bound} {quantity(item.limit, dimension)}"
    if item.estimate is None:
        return f"{name} {what}: the load exceeds the capacity, so no figure exists; the limit is {limit}"
    band = ""
    if item.low != item.high:
        band = f" ({quantity(item.low, dimension)} to {quantity(item.high, dimension)}, {result.shipped.bands.word})"
    return f"{name} {what}: {quantity(item.estimate, dimension)}{band} against {limit}"


def dimension_of(item: ObjectiveOutcome, result: PlanResult) -> Dimension:
    """What the figure measures; `cost` of a finite run is an amount."""
    declared = (limit for limit in result.detail.plan.objectives.limits if limit.path == item.path)
    if item.objective == "cost" and any(limit.period == "total" for limit in declared):
        return "usd"
    return DIMENSIONS.get(item.objective.partition(".")[0], "seconds")


def hint(item: ObjectiveOutcome, plan: Plan, result: PlanResult) -> str:
    """Considered levers that meet it, in the planner's own order; else what binds."""
    meets = [
        step.lever.title
        for step in result.steps
        if step.lever.status == "consider" and step.after is not None and _outcome(step.after.objectives, item) == "met"
    ]
    if meets:
        return f"Considered, and would meet it: {', '.join(meets)}."
    metric = item.objective.partition(".")[0]
    if metric == "time_to_first_token":
        split = result.shipped.latency.prefill
        binds = f"Prefill is bound by {split.bound}. " if split else ""
        return (
            f"{binds}Shorter prompts, a declared shared prefix, or more arithmetic (tensor parallel size, accelerator)."
        )
    if metric.startswith(_cost_ways.METRICS):
        return _cost_ways.hint(item, plan, result)
    if metric == "memory_headroom":
        return "Lower the concurrency, max_num_seqs or max_model_len, or add accelerators."
    split = result.shipped.latency.decode
    binds = f"The decode step is bound by {split.bound}. " if split else ""
    ways = "A smaller batch, a larger tensor parallel size, speculative decoding, or fewer bytes to read"
    return f"{binds}{ways} (quantised weights or cache)."


def _outcome(outcomes: tuple[ObjectiveOutcome, ...], item: ObjectiveOutcome) -> str:
    return next((other.outcome for other in outcomes if other.path == item.path), "")
