"""Quality, latency, throughput or failure rate has no objective, so the verdict says nothing about it."""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "objectives-incomplete"
SEVERITY = Severity.NOTE
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: bare}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = (
    FAILING
    + """
objectives:
  inter_token_latency: {mean: 1 s}
  output_tokens_per_second: {min: 1 token/s}
  rejected_requests: {max: 1 %}
"""
)
KINDS = {
    "latency": (
        "time_to_first_token",
        "inter_token_latency",
        "time_per_output_token",
        "request_latency",
        "session_latency",
        "deadline",
        "completion_time",
    ),
    "throughput": ("output_tokens_per_second", "output_tokens_per_second_per_user", "goodput"),
    "failure rate": ("rejected_requests",),
}
NAMED = {
    "latency": "inter_token_latency",
    "throughput": "output_tokens_per_second",
    "failure rate": "rejected_requests",
}


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    declared = {item.objective.partition(".")[0] for item in result.shipped.objectives}
    missing = [kind for kind, metrics in KINDS.items() if not declared.intersection(metrics)]
    changes = [use for use in plan.levers if use.lever_class == "output-changing" and use.status == "adopt"]
    if any(not use.evidence for use in changes):
        missing.insert(0, "quality")
    if not missing:
        return
    add = [f"objectives.{NAMED[kind]}" for kind in missing if kind in NAMED]
    add += ["evidence of the levers that change the output"] if "quality" in missing else []
    yield Finding(
        ID,
        SEVERITY,
        f"no objective is declared for {', '.join(missing)}",
        f"Add {', '.join(add)}.",
        "/objectives",
        {"missing": missing},
    )
