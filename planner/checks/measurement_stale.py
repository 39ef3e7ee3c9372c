"""A measurement that the spec lists is of something else than what ships, so it says nothing of it.

It was taken on another model or revision, precision, engine or version, or accelerator; or its requests do not fit
`max_model_len`; or no hardware can reach what it says. The report shows it without an estimate beside it. Measure what
ships, or remove the file from `measurements`.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.calibration.comparing import of_detail
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.quoting import quoted, visible

ID = "measurement-stale"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: moved}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11", max_model_len: 8192}
workload: {load: {concurrency: 4}, classes: [{name: all, prompt_tokens: 500, output_tokens: 500}]}
measurements: [./measured.yaml]
"""
PASSING = FAILING.replace("h100-sxm", "a100-sxm-80")
FILES = {
    "measured.yaml": """
apiVersion: planner/v1
kind: Measurement
metadata: {name: moved}
date: 2026-10-02
source: vllm bench serve
subject: {engine: vllm, version: "0.11", accelerator: a100-sxm-80}
runs: [{load: {concurrency: 4}, prompt_tokens: 500, output_tokens: 500, inter_token_latency: {mean: 14 ms}}]
"""
}


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    reasons: dict[tuple[str, str], int] = {}
    for item in of_detail(plan, result.detail):
        if item.estimate is None and item.point.rejected:
            key = item.point.source.rpartition(", ")[0], item.point.rejected
            reasons[key] = reasons.get(key, 0) + 1
    for (name, reason), count in reasons.items():
        figures = f"{count} figures" if count > 1 else "a figure"
        yield Finding(
            ID,
            SEVERITY,
            f"{figures} of {quoted(name)} cannot be compared with the plan: {visible(reason)}",
            "Measure what ships, or remove the file from `measurements`.",
            "/measurements",
            {"file": name, "reason": reason, "figures": count},
        )
