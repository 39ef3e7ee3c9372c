"""Tensor parallelism over more than two cards that have only the bus between them.

Two all-reduces a layer cross the bus, and each prompt token carries its whole activation with them: prefill is bound
by the link, and peer-to-peer transfers may be off. Pipeline stages send one activation a stage; replicas send nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import duration

ID = "tensor-parallel-over-pcie"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: four-cards-on-a-bus}
model: {architecture: {parameters: 30e9, layers: 48, attention: {heads: 40, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: rtx-4090, count: 4}
engine: {name: vllm, tensor_parallel_size: 4, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("rtx-4090", "a100-sxm-40")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    links, tensor = plan.hardware.links, plan.engine.tensor_parallel_size
    if (
        plan.engine.name in ("ideal", "llama-cpp")
        or tensor <= 2
        or plan.hardware.accelerator.kind not in ("gpu", "slice")
    ):
        return
    if not links.topology.startswith("pcie") and links.topology != "nvlink-pair":
        return
    prefill = result.shipped.latency.prefill
    share = None
    if prefill is not None and (result.shipped.latency.prefill_s or 0.0) > 0.0:
        share = prefill.communication_s / (result.shipped.latency.prefill_s or 1.0)
    said = f"; {share:.0%} of a prefill ({duration(result.shipped.latency.prefill_s)}) is on the bus" if share else ""
    yield Finding(
        ID,
        SEVERITY,
        f"tensor_parallel_size {tensor} over {links.topology}: two all-reduces a layer cross the bus{said}",
        f"Two ranks with pipeline_parallel_size {tensor // 2 if tensor % 2 == 0 else tensor}, or replicas.",
        "/engine/tensor_parallel_size",
        {
            "tensor_parallel_size": tensor,
            "topology": links.topology,
            "prefill_communication_share": share,
            "link_bytes_per_s": links.scale_up_bytes_per_s,
        },
    )
