"""A lever that ships makes worse what it is there to reduce.

A format of more bits than the one in place takes more memory and more reading, whatever the lever is called.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import LeverStep, PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import change

ID = "lever-worsens"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: wider}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
levers: [{use: quantize-kv-cache, format: fp32}]
"""
PASSING = FAILING.replace("format: fp32", "format: fp8")

# what a lever says that it reduces -> the figures that say whether it does, with their names
CLAIMED = {
    "weight memory": (("weights_bytes", "the weights of an accelerator"),),
    "cache memory": (("kv_cache_bytes", "the cache of the load"),),
    "bandwidth": (("inter_token_latency_s", "the time between tokens"),),
}


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for step in result.steps:
        worse = _worse(step)
        if step.lever.status == "reject" or step.lever.source == "default" or not worse:
            continue
        said = ", ".join(f"{name} {change(by)}" for name, by in worse.values())
        yield Finding(
            ID,
            SEVERITY,
            f"{step.lever.title} makes worse what it is there to reduce: {said}",
            "Remove it, or give it parameters that reduce this.",
            step.lever.path,
            {figure: by for figure, (_, by) in worse.items()},
        )


def _worse(step: LeverStep) -> dict[str, tuple[str, float]]:
    """Claimed figures that have grown: {figure: (name, relative change)}. {} where any figure is better: a trade."""
    effect = step.effect or {}
    if any(_better(figure, by) for figure, by in effect.items()):
        return {}
    claimed = [item for limit in step.reduces for item in CLAIMED.get(limit, ())]
    moved = {figure: (name, effect[figure]) for figure, name in claimed if figure in effect}
    return {figure: (name, by) for figure, (name, by) in moved.items() if by > 0}


def _better(figure: str, by: float) -> bool:
    """More of what is held or served is better, less of everything else: times, bytes, money, energy."""
    more = figure.endswith("_per_s") or figure in ("kv_capacity_tokens", "max_concurrency")
    return by > 0 if more else by < 0
