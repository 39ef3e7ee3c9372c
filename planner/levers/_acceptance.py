"""How well proposed tokens are accepted: three ways to say it, one number of tokens a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from planner import units
from planner.physics import speculation

FORMS = ("acceptance_length", "acceptance_per_position", "acceptance_probability")

PROPERTIES: dict[str, Any] = {
    "acceptance_length": {
        "type": "number",
        "quantity": "count",
        "minimum": 1,
        "description": "Mean tokens a step, the target's own included: what engines log as mean acceptance length.",
    },
    "acceptance_per_position": {
        "type": "array",
        "minItems": 1,
        "maxItems": 64,
        "items": {"$ref": "#/$defs/share", "description": "One position's share."},
        "description": "Share of all steps that accept position 1, 2, …, as engines log it; it never rises.",
    },
    "acceptance_probability": {
        "$ref": "#/$defs/share",
        "description": "One chance for every proposed token: the textbook's a.",
    },
}


def read(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The acceptance as floats: one of FORMS."""
    found: dict[str, Any] = {}
    for form in FORMS:
        value = parameters.get(form)
        if value is None:
            continue
        if form == "acceptance_length":
            found[form] = float(value)
        elif form == "acceptance_per_position":
            found[form] = tuple(units.si(rate, "share") for rate in value)
        else:
            found[form] = units.si(value, "share")
    return found


def tokens_per_step(acceptance: Mapping[str, Any], proposed: int) -> float:
    """Mean tokens a step of `proposed` proposals."""
    if "acceptance_length" in acceptance:
        return float(acceptance["acceptance_length"])
    if "acceptance_per_position" in acceptance:
        return speculation.tokens_per_step_from_positions(acceptance["acceptance_per_position"])
    probability = float(acceptance["acceptance_probability"])
    return float(speculation.tokens_per_step_from_probability(probability, proposed))


def form_faults(parameters: Mapping[str, Any], *more: str) -> Iterator[tuple[str, str, str]]:
    """(parameter, what is wrong, way out) of an acceptance that says nothing, or too much. more: forms beside FORMS."""
    forms = (*FORMS, *more)
    given = [form for form in forms if parameters.get(form) is not None]
    if not given:
        yield "", "no acceptance is declared, and none is assumed", f"Give one of {', '.join(forms)}."
    for form in given[1:]:
        yield form, f"{form} stands beside {given[0]}: one acceptance, said twice", f"Keep one of {', '.join(given)}."


def length_faults(acceptance: Mapping[str, Any], proposed: int) -> Iterator[tuple[str, str, str]]:
    """(parameter, what is wrong, way out) of an acceptance that `proposed` proposals cannot have."""
    length = acceptance.get("acceptance_length")
    if length is not None and not 1 <= length <= proposed + 1:
        yield (
            "acceptance_length",
            f"{length:g} tokens a step cannot come of {proposed} proposals: from 1 to {proposed + 1}, bonus included",
            "Read the engine's mean acceptance length at this num_speculative_tokens.",
        )
    rates = acceptance.get("acceptance_per_position")
    if rates is not None and len(rates) != proposed:
        yield (
            "acceptance_per_position",
            f"{len(rates)} rates for {proposed} proposed tokens",
            f"Give {proposed} rates, or set num_speculative_tokens: {len(rates)}.",
        )
    if rates is not None and any(later > earlier for earlier, later in pairwise(rates)):
        yield (
            "acceptance_per_position",
            "the rates rise: a position is accepted only where the one before it was",
            "Give each position's share of all steps; multiply conditional rates up: 0.8, 0.9 -> 0.8, 0.72.",
        )
