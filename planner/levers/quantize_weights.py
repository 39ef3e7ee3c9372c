"""Quantised weights: each value in fewer bits, with scales for groups of them.

It moves weight memory, and bandwidth in every decode step at small batches, where weights are most of what is read.
Arithmetic follows only where the accelerator multiplies in the format (FP8 and INT8 on most recent cards, FP4 on
Blackwell); formats such as AWQ and GPTQ are stored small and multiplied in 16 bits. `format` quantises the published
model by the format's own rules: embeddings, head, norms and router stay as they are, scales are counted.
`checkpoint: {ref: …}` takes somebody's quantised checkpoint, with what it left alone.

It spends accuracy: the answers change, most in long answers, rare languages, arithmetic and code. Savings are below
the ratio of bits, and kernels may be slower than 16 bits at large batches.

It does nothing where the weights are in that format already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.domain.requantize import requantize
from planner.levers import LeverContext
from planner.levers._formats import known_weights, model_of

NAME = "quantize-weights"
CLASS: LeverClass = "output-changing"
ORDER = 100
REDUCES: tuple[str, ...] = ("weight memory", "bandwidth")
EVALUATE: tuple[tuple[str, str], ...] = (
    ("task", "The deployment's own tasks against the published weights: a non-inferior result."),
    ("long-form", "Long answers, where small errors add up."),
)
PROPERTIES: dict[str, Any] = {
    "format": {
        "type": "string",
        "minLength": 1,
        "description": "Stored precision of the weights: a name of `model.weights`.",
        "examples": ["fp8", "awq-int4", "q4_k_m"],
    },
    "checkpoint": {"$ref": "#/$defs/model", "description": "A quantised checkpoint of the same model."},
}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = """\
- use: quantize-weights
  format: fp8
"""
INTERACTS: tuple[tuple[str, str], ...] = (
    ("quantize-kv-cache", "two errors add up: evidence for each alone does not cover the two together"),
)


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    """format, a name; or checkpoint, a Model."""
    given = [key for key in ("format", "checkpoint") if parameters.get(key) is not None]
    if len(given) != 1:
        what = "names neither a format nor a checkpoint" if not given else "names a format and a checkpoint"
        context.fault(given[-1] if given else "", f"quantize-weights {what}", "Give one of format, checkpoint.")
    if "checkpoint" not in given:
        if given:
            known_weights(parameters["format"], "format", context)
        return {"format": parameters.get("format")}
    checkpoint = model_of(parameters["checkpoint"], "checkpoint", context)
    if (checkpoint.hidden, checkpoint.layers) != (context.target.hidden, context.target.layers):
        context.fault(
            "checkpoint",
            f"{checkpoint.name} has {checkpoint.layers} layers of {checkpoint.hidden}, "
            f"the model {context.target.layers} of {context.target.hidden}: it is another model",
            "Use `use: change` with `set: {model: …}` for another model.",
        )
    return {"checkpoint": checkpoint}


def applies(plan: Plan, lever: LeverUse) -> str:
    if _quantised(plan.model, lever) == plan.model:
        return f"the weights of {plan.model.name} are stored so already"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    return replace(plan, model=_quantised(plan.model, lever))


def _quantised(model: Model, lever: LeverUse) -> Model:
    checkpoint: Model | None = lever.parameters.get("checkpoint")
    return checkpoint if checkpoint is not None else requantize(model, lever.parameters["format"])
