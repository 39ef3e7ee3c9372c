"""An objective has no estimate, so it does not pass: a promise that cannot be judged is not a promise kept."""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.objectives import WAITED_FOR
from planner.findings import Finding, Severity, Verdict

ID = "objective-not-judged"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: no-prompt}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 2048}]}
objectives: {time_to_first_token: {mean: 1 s}}
"""
PASSING = FAILING.replace("context_tokens: 2048", "prompt_tokens: 200, output_tokens: 500")

DECLARE = {
    "time_to_first_token": "prompt_tokens and output_tokens of every class",
    "request_latency": "prompt_tokens and output_tokens of every class",
    "deadline": "prompt_tokens and output_tokens of every class",
    "session_latency": "session of a class",
    "completion_time": "load.requests",
    "cost": "hardware.price",
    "cost_per_million_output_tokens": "hardware.price",
    "cost_per_million_tokens": "hardware.price",
    "cost_per_request": "hardware.price",
    "energy_per_output_token": "hardware.accelerator.power",
    "energy_per_request": "hardware.accelerator.power",
    "power": "hardware.accelerator.power",
    "rejected_requests": "prompt_tokens and output_tokens of every class",
    "goodput": "prompt_tokens and output_tokens of every class",
}


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    for item in result.shipped.objectives:
        if item.outcome == "unknown":
            metric = item.objective.partition(".")[0]
            needed = DECLARE.get(metric, "what the figure is computed from")
            why = "the spec does not say enough"
            if plan.workload.load.kind == "offline" and metric in WAITED_FOR:
                needed, why = "load.concurrency or load.rate", "nobody waits for an answer of an endless queue"
            yield Finding(
                ID,
                SEVERITY,
                f"{item.objective} cannot be judged: {why}",
                f"Declare {needed}, or remove the objective.",
                item.path,
                {"limit": item.limit},
                verdict=Verdict.UNPROVEN,
            )
