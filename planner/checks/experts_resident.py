"""A mixture of experts does not fit, though what one token passes through would.

"30B-A3B" reads like three billion parameters: that is the arithmetic and the traffic of a token at batch 1. Every
expert must be in memory all the same, since the next token may need any of them. Experts kept in the host's memory
cost its bandwidth.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import count, memory

ID = "experts-resident"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: sized-by-active-parameters}
model:
  architecture:
    parameters: 30.5e9
    active_parameters: 3.3e9
    layers: 48
    hidden: 2048
    experts: {count: 128, per_token: 8}
    attention: {heads: 32, kv_heads: 4, head_dim: 128}
hardware: {accelerator: {memory: 24 GB, bandwidth: 1 TB/s, compute: {bf16: 100 TFLOP/s}}}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("memory: 24 GB", "memory: 80 GB")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    model, shipped = result.detail.plan.model, result.shipped.memory
    share = model.active_parameters / model.parameters if model.parameters else 1.0
    if shipped.fits or share > 0.75 or shipped.weights_bytes * share > shipped.usable_bytes:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"memory goes by all {count(model.parameters)} parameters ({memory(shipped.weights_total_bytes)}); the "
        f"{count(model.active_parameters)} of a token are its speed",
        "A smaller model, a smaller format, more accelerators, or experts in the host's memory at its bandwidth.",
        "/model",
        {
            "total_parameters": model.parameters,
            "active_parameters": model.active_parameters,
            "weights_total_bytes": shipped.weights_total_bytes,
            "active_weights_bytes": shipped.weights_total_bytes * share,
            "usable_bytes": shipped.usable_bytes,
        },
    )
