"""More tensor-parallel ranks than the cache can be divided into: ranks hold copies of it.

Keys and values divide by whole KV heads; a latent (MLA) is held whole by every rank. Beyond that point more ranks
divide the weights but not the cache. Data-parallel attention divides sequences instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.domain.shards import Parallel, kv_bytes_per_token
from planner.findings import Finding, Severity

ID = "cache-replicated"
SEVERITY = Severity.NOTE
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: more-ranks-than-kv-heads}
model: {architecture: {parameters: 7e9, layers: 28, attention: {heads: 32, kv_heads: 4, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}, count: 8}
engine: {name: vllm, tensor_parallel_size: 8, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("kv_heads: 4", "kv_heads: 8")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped: Plan = result.detail.plan
    tensor = shipped.engine.tensor_parallel_size
    whole = kv_bytes_per_token(shipped.model, shipped.cache_format)
    if tensor < 2 or not whole or shipped.engine.name == "llama-cpp":
        return
    rank = kv_bytes_per_token(shipped.model, shipped.cache_format, Parallel(tensor=tensor))
    copies = rank * tensor / whole
    if copies < 1.5:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"tensor_parallel_size {tensor} keeps {copies:.3g} copies of the cache: a rank holds {rank / 1024:,.4g} KiB of "
        f"{whole / 1024:,.4g} KiB a token",
        "Data-parallel attention (data_parallel_size) divides the sequences, or fewer ranks with replicas.",
        "/engine/tensor_parallel_size",
        {
            "copies": copies,
            "kv_bytes_per_token": whole,
            "kv_bytes_per_token_on_a_rank": rank,
            "largest_dividing_size": max(1, round(tensor / copies)),
        },
    )
