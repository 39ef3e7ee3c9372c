"""The share of memory given to the engine leaves too little beside it for graphs and the driver's context.

To vLLM 0.20 captured graphs live outside the share: capture runs out of memory after the cache is allocated,
whatever the cache holds. Later versions count an estimate of them in, and what stays outside is the context.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.format import memory

ID = "engine-utilization-high"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: nothing-left-for-graphs}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 24 GB, bandwidth: 1 TB/s, compute: {bf16: 100 TFLOP/s}}}
engine: {name: vllm, version: "0.11", max_model_len: 4096, gpu_memory_utilization: 0.975}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("0.975", "0.90")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped = result.shipped.memory
    fraction = result.detail.plan.engine.memory_fraction
    if plan.engine.name != "vllm" or not shipped.fits or fraction is None or shipped.headroom_bytes >= 0:
        return
    outside = (1.0 - fraction) * shipped.capacity_bytes
    largest = fraction + shipped.headroom_bytes / shipped.capacity_bytes
    counted = bool(engines.figure(plan.engine, "graphs_in_budget"))
    what = "the driver's context" if counted else "the driver's context and captured graphs"
    yield Finding(
        ID,
        SEVERITY,
        f"gpu_memory_utilization {fraction:g} leaves {memory(outside)} outside, {memory(-shipped.headroom_bytes)} too "
        f"little for {what}",
        f"At most {int(largest * 100) / 100:g}, or enforce_eager, or a lower max_num_seqs.",
        "/engine/gpu_memory_utilization",
        {
            "outside_bytes": outside,
            "short_bytes": -shipped.headroom_bytes,
            "largest_fraction": int(largest * 100) / 100,
        },
        verdict=Verdict.AT_RISK,
    )
