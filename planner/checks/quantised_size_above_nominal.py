"""The quantised model is larger than its format's name says: a good part of it is stored in 16 bits.

Tables and head are left out nearly always, which counts in small models; sometimes attention or whole layers are. Plan
with the checkpoint's own list of what is quantised, not with the format's name. It is a warning where layers are left
in 16 bits, and a note where tables and head alone are; scales of groups and the mixtures of GGUF are what the format
means, and nothing is said of them.
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
SEVERITY = Severity.NOTE
LAYERS, TABLES = 1.10, 1.25
"""Times the size of the whole model in its format above which something is said: of layers, of tables alone."""
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
    whole = model.parameters * _bytes_a_parameter(model, name)
    wide, layers = _in_16_bits(model)
    partly = layers > (LAYERS - 1.0) * whole
    if stored <= (LAYERS if partly else TABLES) * whole or not wide:
        return
    what = "layers among it" if partly else "tables and head"
    yield Finding(
        ID,
        Severity.WARNING if partly else SEVERITY,
        f"the model is {memory(stored)}, {stored / whole - 1:.0%} above the {memory(whole)} that all of it would be in "
        f"{name}: {memory(wide)} are in 16 bits, {what}",
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


def _bytes_a_parameter(model: Model, name: str) -> float:
    """Of what is in the format, scales included."""
    found = [(count, weight) for count, weight in model.weights() if (weight.format or model.dtype) == name]
    parameters = math.fsum(count * weight.parameters for count, weight in found)
    return math.fsum(count * stored_bytes(weight, model) for count, weight in found) / parameters


def _in_16_bits(model: Model) -> tuple[float, float]:
    """(bytes of all that is not quantised, of that what is inside layers)."""
    whole = layers = 0.0
    inside = {id(weight) for group in model.groups for weight in group.weights()}
    for count, weight in model.weights():
        if formats.known(weight.format or model.dtype).bits >= 16:
            size = count * stored_bytes(weight, model)
            whole += size
            layers += size if id(weight) in inside else 0.0
    return whole, layers


def _main_format(model: Model) -> str | None:
    """The format under 16 bits that holds the most parameters; None where nothing is quantised."""
    held: dict[str, float] = {}
    for count, weight in model.weights():
        name = weight.format or model.dtype
        if formats.known(name).bits < 16:
            held[name] = held.get(name, 0.0) + count * weight.parameters
    return max(sorted(held), key=lambda name: held[name]) if held else None
