"""Memory that the processor and the accelerator share is not all the accelerator's.

The system keeps a part: macOS lets the graphics part have about three quarters unless `iogpu.wired_limit_mb` is
raised, boards and desktops need a few GiB for the system and everything else that runs. A model that fits the
printed memory may not load.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import memory

ID = "unified-memory-share"
SEVERITY = Severity.NOTE
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: laptop}
model:
  architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}
  weights: q4_k_m
hardware: {accelerator: m2-max}
engine: {name: llama-cpp, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("m2-max", "rtx-4090")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    card, shipped = plan.hardware.accelerator, result.shipped.memory
    if not card.unified:
        return
    printed = card.marketed_bytes
    whole = shipped.capacity_bytes if printed is None else max(printed, shipped.capacity_bytes)
    needed = shipped.usable_bytes - (shipped.free_bytes if shipped.free_bytes is not None else 0.0)
    between = not shipped.fits and shipped.weights_bytes <= whole
    undeclared = plan.hardware.reserved_bytes == 0 and shipped.usable_bytes >= whole
    tail = "; the system's own part is not declared" if undeclared else ""
    yield Finding(
        ID,
        Severity.WARNING if between else SEVERITY,
        f"{memory(shipped.usable_bytes)} of {memory(whole)} of unified memory are counted as the accelerator's{tail}",
        "Declare what the system and other programs take as `hardware.reserved`."
        if undeclared
        else "A smaller format, or a raised system limit declared as `hardware.usable_memory`.",
        "/hardware/accelerator",
        {
            "usable_bytes": shipped.usable_bytes,
            "memory_bytes": whole,
            "usable_share": shipped.usable_bytes / whole if whole else None,
            "needed_bytes": needed,
            "reserved_bytes": plan.hardware.reserved_bytes,
        },
    )
