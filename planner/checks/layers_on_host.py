"""Some or all layers run on the host's processor: the engine does not fail, it becomes slow without a word.

llama.cpp and what is built on it place as many layers as fit on the cards and leave the others to the processor. A
latency promised for cards is then missed by a factor of ten. Every slot's whole context is allocated at start, and
the compute buffer is needed on each card: a shorter context, fewer slots or a smaller cache format bring layers back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner import engines
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.domain.shards import cache_bytes
from planner.findings import Finding, Severity
from planner.format import memory

ID = "layers-on-host"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: context-too-long-for-the-card}
model:
  architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 32, head_dim: 128}}
  weights: q4_k_m
hardware: {accelerator: {memory: 12 GB, bandwidth: 400 GB/s, compute: {fp16: 50 TFLOP/s}}}
engine: {name: llama-cpp, max_model_len: 32768, max_num_seqs: 1}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("max_model_len: 32768", "max_model_len: 4096")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped: Plan = result.detail.plan
    settings, layers = shipped.engine, shipped.model.layers
    if settings.name != "llama-cpp":
        return
    wanted = min(layers + 1, layers + 1 if settings.gpu_layers is None else settings.gpu_layers)
    placed = wanted if result.shipped.memory.fits else _placed(shipped, wanted)
    if placed > layers:
        return
    slots, length = settings.max_num_seqs or 1, settings.max_model_len or 1
    cache = slots * float(cache_bytes(shipped.model, length, shipped.cache_format))
    yield Finding(
        ID,
        SEVERITY,
        f"{placed} of {layers + 1} layers fit the accelerators beside {memory(cache)} of cache "
        f"({slots} x {length:,} tokens) and buffers: the rest runs on the host's processor",
        "Shorten max_model_len, lower max_num_seqs, or keep the cache in q8_0; do not plan on the speed of the cards.",
        "/engine/max_model_len" if settings.gpu_layers is None or wanted > layers else "/engine/gpu_layers",
        {
            "layers_on_accelerators": placed,
            "layers": layers + 1,
            "kv_cache_bytes": cache,
            "kv_bytes_per_token": cache / (slots * length),
            "buffer_bytes": result.shipped.memory.activation_bytes,
            "largest_max_model_len": result.detail.ledger.largest_context,
        },
    )


def _placed(plan: Plan, wanted: int) -> int:
    """The most layers with which every card fits, 0 where not even buffers do."""
    module = engines.get(plan.engine.name)
    low, high = 0, wanted
    while low < high:
        middle = (low + high + 1) // 2
        tried = replace(plan, engine=replace(plan.engine, gpu_layers=middle))
        low, high = (middle, high) if module.memory(tried).memory.fits else (low, middle - 1)
    return low
