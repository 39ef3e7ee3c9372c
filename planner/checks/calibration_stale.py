"""The calibration that a spec names is of something else than what ships, so it is not used.

Measured factors belong to one subject: model and revision, precision, engine and version, accelerator, parallel sizes,
speculation. On another one they may be worse than none, so the figures and their bands are the uncalibrated ones.
Measure what ships and run `planner calibrate` again, or remove `calibration`.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.quoting import quoted

ID = "calibration-stale"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: moved}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11", max_model_len: 8192}
workload: {load: {concurrency: 4}, classes: [{name: all, prompt_tokens: 500, output_tokens: 500}]}
calibration: ./calibration.yaml
"""
PASSING = FAILING.replace("h100-sxm", "a100-sxm-80")
FILES = {
    "calibration.yaml": """
apiVersion: planner/v1
kind: Calibration
metadata: {name: moved}
date: 2026-10-02
subject: {engine: vllm, version: "0.11", accelerator: a100-sxm-80}
scalars: {bandwidth: {value: 0.95, low: 0.92, high: 0.98}}
bands:
  calibrated: {latency: [0.9, 1.11], throughput: [0.9, 1.11]}
  family: {latency: [0.8, 1.25], throughput: [0.8, 1.25]}
"""
}


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    known = plan.calibration
    if known is None or not known.stale:
        return
    apart = "; ".join(f"{what}: measured {quoted(was)}, planned {quoted(now)}" for what, was, now in known.stale)
    yield Finding(
        ID,
        SEVERITY,
        f"the calibration {quoted(known.file)} is not of what ships, so it is not used: {apart}",
        "Measure what ships and run `planner calibrate` again, or remove `calibration`.",
        "/calibration",
        {"stale": [{"what": what, "measured": was, "planned": now} for what, was, now in known.stale]},
    )
