"""The quantised model is larger than parameters x bits: some of it is stored in 16 bits, and scales come on top.

Embeddings, the head, sometimes attention or whole layers are left out, and every group of values has a scale. Plan
with the checkpoint's own list of what is quantised, not with the format's name: small models and partly quantised
ones are far off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.domain import formats
from planner.domain.evaluation import PlanResult
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.domain.shards import stored_bytes, weight_bytes
from planner.findings import Finding, Severity
from planner.format import memory

ID = "quantised-size-above-nominal"
SEVERITY = Severity.WARNING
ALLOWED = 1.10
# An 8B model with 128,256 entries twice: 1.05e9 of 8.03e9 parameters stay in 16 bits.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: large-tables}
model: {ref: meta-llama/Llama-3.1-8B-Instruct, weights: awq-int4}
hardware: {accelerator: {memory: 24 GB, bandwidth: 1 TB/s, compute: {bf16: 100 TFLOP/s}}}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("awq-int4", "bf16")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    model: Model = result.detail.plan.model
    name = _main_format(model)
    if plan.engine.name == "ideal" or name is None:
        return
    stored, nominal = weight_bytes(model), model.parameters * formats.known(name).bits / 8
    if stored <= ALLOWED * nominal:
        return
    wide = math.fsum(
        count * stored_bytes(weight, model)
        for count, weight in model.weights()
        if (weight.format or model.dtype) != name
    )
    yield Finding(
        ID,
        SEVERITY,
        f"the model is {memory(stored)}, {stored / nominal - 1:.0%} above {memory(nominal)} of {name} for every "
        "parameter: "
        f"{memory(wide)} of it are in other formats",
        "Take the size from the checkpoint's index, or its config's list of what is quantised.",
        "/model",
        {
            "stored_bytes": stored,
            "nominal_bytes": nominal,
            "ratio": stored / nominal,
            "other_formats_bytes": wide,
            "format": name,
        },
    )


def _main_format(model: Model) -> str | None:
    """The format under 16 bits that holds the most parameters; None where nothing is quantised."""
    held: dict[str, float] = {}
    for count, weight in model.weights():
        name = weight.format or model.dtype
        if formats.known(name).bits < 16:
            held[name] = held.get(name, 0.0) + count * weight.parameters
    return max(sorted(held), key=lambda name: held[name]) if held else None
