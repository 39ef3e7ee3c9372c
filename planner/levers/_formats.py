"""Names that parameters give: formats of weights, and models stored in them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from planner.domain import formats
from planner.domain.model import Model
from planner.levers import LeverContext
from planner.quoting import quoted


def known_weights(name: str, parameter: str, context: LeverContext) -> bool:
    """Whether `name` is a format of weights; a fault at `parameter` where it is none."""
    if formats.get(name) is not None:
        return True
    near = difflib.get_close_matches(name.lower(), formats.spellings(), n=3, cutoff=0.5)
    hint = f"Nearest: {', '.join(near)}." if near else "For example bf16, fp8, int8, awq-int4, q4_k_m."
    context.fault(parameter, f"{quoted(name)} is not a format of weights", hint)
    return False


def model_of(reference: Mapping[str, Any], parameter: str, context: LeverContext) -> Model:
    """The model that a parameter names; its published weights after a fault at those that it asks for."""
    weights = reference.get("weights", "published")
    if weights != "published" and not known_weights(weights, parameter, context):
        reference = {key: value for key, value in reference.items() if key != "weights"}
    return context.model(reference, parameter)
