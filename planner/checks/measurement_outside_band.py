"""What was measured of the deployment lies outside the band of its estimate.

The plan is wrong by more than it says of itself, or the measurement is. `planner calibrate` fits the plan to
measurements; where it was fitted already, look for what differs between the run and the spec: limits, lengths, another
process on the card, a client that was too slow.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.calibration.comparing import of_detail
from planner.calibration.wording import run_text, value_text
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.quoting import visible

ID = "measurement-outside-band"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: slower}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11", max_model_len: 8192}
workload: {load: {concurrency: 4}, classes: [{name: all, prompt_tokens: 500, output_tokens: 500}]}
measurements: [./measured.yaml]
"""
PASSING = FAILING.replace("./measured.yaml", "./near.yaml")
_MEASURED = """
apiVersion: planner/v1
kind: Measurement
metadata: {name: slower}
date: 2026-10-02
source: vllm bench serve
subject: {engine: vllm, version: "0.11", accelerator: h100-sxm}
runs: [{load: {concurrency: 4}, prompt_tokens: 500, output_tokens: 500, inter_token_latency: {mean: 70 ms}}]
"""
FILES = {"measured.yaml": _MEASURED, "near.yaml": _MEASURED.replace("70 ms", "7 ms")}
CENTRES = ("", "mean", "p50")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    """Tails are shown in the report, and judged by no band: those are of means."""
    for item in of_detail(plan, result.detail):
        point = item.point
        if item.estimate is None or not item.outside or point.observation.statistic not in CENTRES:
            continue
        texts = (value_text(point, value) for value in (point.observation.value, item.low or 0.0, item.high or 0.0))
        measured, low, high = texts
        yield Finding(
            ID,
            SEVERITY,
            visible(f"{point.observation.name} at {run_text(point)} was measured as {measured} ({point.source}); the "
                    f"plan says {low} to {high}"),
            "`planner calibrate` fits the plan to its measurements.",
            "/measurements",
            {"measured": point.observation.value, "estimate": item.estimate, "low": item.low, "high": item.high},
        )  # fmt: skip
