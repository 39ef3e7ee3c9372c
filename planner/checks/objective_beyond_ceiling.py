"""An objective asks for more than the hardware can do, whatever the engine and however well it is tuned.

A token cannot come faster than its step reads the weights of one stream at the card's peak bandwidth. No measurement
will bring such an objective within reach: it takes fewer bytes for a token, more bandwidth, or more tokens a step.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.domain.workload import Objective
from planner.findings import Finding, Severity, Verdict
from planner.format import memory, significant

ID = "objective-beyond-ceiling"
SEVERITY = Severity.ERROR
# 14e9 bytes at 1 TB/s are 14 ms: 71 tokens/s at most.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: faster-than-memory}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
objectives: {output_tokens_per_second_per_user: {min: 80 token/s}}
"""
PASSING = FAILING.replace("80 token/s", "60 token/s")
GAPS = ("inter_token_latency", "time_per_output_token")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    served = result.detail.served.service
    weights = float(served.step.work.weight_bytes(1.0))
    least = weights / plan.hardware.accelerator.bandwidth_bytes_per_s / served.tokens_per_step
    of_classes = (item for found in plan.workload.classes for item in found.objectives)
    for limit in (*plan.objectives.limits, *of_classes):
        asked = _gap(limit)
        if asked is None or asked >= least:
            continue
        yield Finding(
            ID,
            SEVERITY,
            f"{limit.name} asks for a token every {significant(asked * 1e3)} ms, and reading "
            f"{memory(weights)} of weights at "
            f"the card's peak takes {significant(least * 1e3)} ms: {significant(1 / least)} tokens/s at most",
            "Fewer active parameters or bits, more bandwidth (a faster card, more ranks), or speculation.",
            limit.path,
            {"asked_s": asked, "least_s": least, "ceiling_tokens_per_s": 1.0 / least, "bytes_per_step": weights},
            verdict=Verdict.INFEASIBLE,
        )


def _gap(limit: Objective) -> float | None:
    """Seconds between tokens that an objective asks for, None where it asks for something else."""
    if limit.metric in GAPS:
        return limit.limit
    if limit.metric == "output_tokens_per_second_per_user" and limit.limit > 0:
        return 1.0 / limit.limit
    return None
