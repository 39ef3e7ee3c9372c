"""Less than a tenth of the usable memory is free at the promised load.

Fragmentation, longer prompts than declared and the next engine version take from it first. Not asked of the ideal
engine, which reserves nothing, nor of an endless queue, which fills whatever there is.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import memory, percent

ID = "memory-headroom-low"
SEVERITY = Severity.WARNING
LEAST = 0.10
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: tight}
model: {architecture: {parameters: 34e9, layers: 60, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {fp16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 2048}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 1500, output_tokens: 500}]}
"""
PASSING = FAILING.replace("34e9", "13e9")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped = result.shipped.memory
    if plan.engine.name == "ideal" or plan.workload.load.kind == "offline":
        return
    if not shipped.fits or shipped.free_bytes is None or shipped.usable_bytes <= 0:
        return
    share = shipped.free_bytes / shipped.usable_bytes
    if share >= LEAST:
        return
    basis = "expected" if shipped.cache_basis == "expected" else "promised"
    left = f"{percent(share)} of usable memory is free at the {basis} load ({memory(max(shipped.free_bytes, 0.0))})"
    if share < 0:
        left = f"the {basis} load would take {memory(-shipped.free_bytes)} a card more than there is: part of it waits"
    yield Finding(
        ID,
        SEVERITY,
        f"{left}; {percent(LEAST)} free is the rule",
        "Lower max_num_seqs, the concurrency or max_model_len, or add accelerators.",
        "/hardware",
        {"free_share": share, "free_bytes": shipped.free_bytes, "usable_bytes": shipped.usable_bytes},
    )
