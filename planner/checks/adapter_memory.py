"""Adapters are preallocated: slots x rank x (inputs + outputs) of every projection, whatever adapters are loaded.

`max_lora_rank` above the real rank and more `max_loras` than a batch mixes reserve memory for nothing. Fewer slots
than the adapters of the load means that they are swapped in from the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner import engines
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import memory

ID = "adapter-memory"
SEVERITY = Severity.NOTE
LARGE = 0.05
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: adapters}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: rtx-4090}
engine: {name: vllm, max_model_len: 4096, max_loras: 8, max_lora_rank: 64}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100, adapters: 8}]}
"""
PASSING = FAILING.replace(", max_loras: 8, max_lora_rank: 64", "").replace(", adapters: 8", "")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    settings = result.detail.plan.engine
    wanted = max((item.adapters for item in plan.workload.classes), default=0)
    slots, rank = settings.max_loras or 0, settings.max_lora_rank or 0
    if not slots:
        return
    size = _bytes(result.detail.plan)
    swapped = wanted > slots
    large = size > LARGE * result.shipped.memory.usable_bytes
    message = f"{slots} adapter slots of rank {rank} take {memory(size)} of a card"
    if not rank:
        message = f"{slots} adapter slots are counted with nothing: their rank is not declared"
    if not wanted:
        message += ", and no class uses adapters"
    yield Finding(
        ID,
        Severity.WARNING if swapped or large or not rank else SEVERITY,
        message + (f", and the load has {wanted} adapters: they are swapped in from the host" if swapped else ""),
        _way(wanted, swapped=swapped),
        "/engine/max_loras",
        {
            "adapter_bytes": size,
            "bytes_per_slot": size / slots if slots else None,
            "slots": slots,
            "rank": rank,
            "adapters": wanted,
        },
    )


def _way(wanted: int, *, swapped: bool) -> str:
    if swapped:
        return f"Set max_loras to {wanted}, or serve fewer adapters."
    return "Set max_lora_rank to the largest real rank." if wanted else "Remove max_loras, or declare the adapters."


def _bytes(plan: Plan) -> float:
    """What the ledger charges with the slots, less what it charges without."""
    module = engines.get(plan.engine.name)
    without = replace(plan, engine=replace(plan.engine, max_loras=None, max_lora_rank=None))
    return float(module.memory(plan).memory.weights_bytes - module.memory(without).memory.weights_bytes)
