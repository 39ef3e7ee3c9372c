"""Error correction is on in GDDR memory: a sixteenth of capacity and bandwidth holds check bits.

Cards for data centres report their capacity with it on, workstation cards without; the driver's tool switches it.
HBM has room of its own for it. Capacity planned without it is missing when the operator turns it on.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import memory

ID = "memory-ecc"
SEVERITY = Severity.NOTE
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: error-correction-on}
model: {architecture: {parameters: 13e9, layers: 40, attention: {heads: 40, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: rtx-a6000, ecc: true}
engine: {name: vllm, tensor_parallel_size: 1, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("rtx-a6000", "a100-sxm-80")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    card, shipped = plan.hardware.accelerator, result.shipped.memory
    if plan.hardware.ecc is not True or not card.memory_type.upper().startswith("GDDR"):
        return
    taken = card.capacity_bytes / 15
    missing = 0.0 if shipped.fits else max(0.0, shipped.weights_bytes - shipped.usable_bytes)
    yield Finding(
        ID,
        Severity.NOTE if shipped.fits else Severity.WARNING,
        f"error correction takes {memory(taken)} of {card.name}: {memory(card.capacity_bytes)} are left",
        "Without it (`hardware.ecc: false`) they are back, and a flipped bit goes unnoticed.",
        "/hardware/ecc",
        {"ecc_bytes": taken, "capacity_bytes": card.capacity_bytes, "missing_bytes": missing},
    )
