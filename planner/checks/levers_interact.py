"""Two levers in the stack change what the other is worth, so their effects do not add up."""

from __future__ import annotations

from collections.abc import Iterator

from planner import levers
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "levers-interact"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: pair}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 500, output_tokens: 500}]}
levers:
  - {use: quantize-weights, format: int8}
  - {use: speculative-decoding, method: ngram, num_speculative_tokens: 4, acceptance_length: 1.8}
"""
PASSING = FAILING.replace("  - {use: quantize-weights, format: int8}\n", "")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    adopted = {item.use: item for item in plan.levers if item.status == "adopt"}
    for name, other, why in levers.interactions(tuple(adopted)):
        if {adopted[name].source, adopted[other].source} == {"default"}:
            continue
        yield Finding(
            ID, SEVERITY, f"{name} and {other} interact: {why}", "", adopted[name].path, {"levers": [name, other]}
        )
