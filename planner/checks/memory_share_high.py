"""The engine's share of memory is so high that anything beside it runs out: graphs, an encoder, a neighbour.

Above 0.95 servers that start have failed later, while graphs were captured or the first large image arrived. What is
gained is little: a point of an 80 GB card is 0.8 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import memory

ID = "memory-share-high"
SEVERITY = Severity.WARNING
USUAL = 0.95
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: all-of-the-card}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 4096, gpu_memory_utilization: 0.98}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("0.98", "0.95")
KEYS = {"vllm": "gpu_memory_utilization", "sglang": "mem_fraction_static", "tensorrt-llm": "free_gpu_memory_fraction"}


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    fraction, key = plan.engine.memory_fraction, KEYS.get(plan.engine.name)
    shipped = result.shipped.memory
    if fraction is None or key is None or fraction <= USUAL:
        return
    outside = (1.0 - fraction) * shipped.capacity_bytes
    yield Finding(
        ID,
        SEVERITY,
        f"{key} {fraction:g} leaves {memory(outside)} of a card for everything that the engine does not count",
        f"{USUAL:g} or less, unless this has been run with graphs, images and the longest prompts.",
        f"/engine/{key}",
        {
            "fraction": fraction,
            "outside_bytes": outside,
            "cuda_graph_bytes": shipped.cuda_graph_bytes,
            "gained_bytes": (fraction - USUAL) * shipped.capacity_bytes,
        },
    )
