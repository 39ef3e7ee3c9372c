"""Slices of a partitioned accelerator are used as if their memory were one.

A slice has its own memory and no peer-to-peer access to another: tensor and pipeline parallelism over slices do not
work. Serve a smaller model on each slice as replicas, take a larger slice, or the whole card.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.format import memory

ID = "slices-do-not-pool"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: two-slices-as-one}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: h100-sxm-mig-1g.10gb, count: 2}
engine: {name: vllm, tensor_parallel_size: 2, max_model_len: 2048}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("h100-sxm-mig-1g.10gb", "h100-sxm")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    slices = [card for card in plan.hardware.cards if card.kind == "slice"]
    ranks = plan.hardware.count if plan.engine.name == "llama-cpp" else plan.engine.world_size
    if not slices or ranks < 2 or plan.engine.name == "ideal":
        return
    card, total = slices[0], sum(item.capacity_bytes for item in slices)
    parent = card.partition_of or "the whole card"
    yield Finding(
        ID,
        SEVERITY,
        f"{len(slices)} slices {card.id} are {len(slices)} memories of {memory(card.capacity_bytes)}, "
        f"not one of {memory(total)}",
        f"One slice for each replica (count 1), a larger slice, or {parent}.",
        "/hardware/count",
        {
            "slices": len(slices),
            "slice_bytes": card.capacity_bytes,
            "parent": card.partition_of or None,
            "valid_counts": [1],
        },
        verdict=Verdict.INFEASIBLE,
    )
