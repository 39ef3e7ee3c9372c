"""Acceptance that someone measured: the table of the catalogue for this model, method and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.domain.levers import MeasuredAcceptance

PROPERTY: dict[str, Any] = {
    "type": "object",
    "description": (
        "In place of a declared acceptance: what was measured of this model and method on public prompts of a task. "
        "Your own traffic may accept more or less."
    ),
    "properties": {
        "task": {"type": "string", "minLength": 1, "description": "The prompts.", "examples": ["coding"]},
        "mode": {
            "enum": ["thinking", "plain"],
            "description": "Whether the model reasons before it answers; `plain` where left out.",
        },
        "drafter": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "The table, where a model has several: `planner check` names them.",
            "examples": ["minimaxm3-eagle3-gqa"],
        },
    },
    "required": ["task"],
    "additionalProperties": False,
    "examples": [{"task": "coding", "mode": "thinking"}],
}
Fault = tuple[str, str, str]
WHERE = "measured_acceptance"


def read(
    asked: Mapping[str, Any], method: str, proposed: int, known: Sequence[MeasuredAcceptance]
) -> tuple[dict[str, Any], list[Fault]]:
    """({acceptance_length, measured: what is assumed}, nothing), or ({acceptance_length: 1}, what is wrong)."""
    drafter, task, mode = asked.get("drafter", ""), asked["task"], asked.get("mode", "plain")
    of_drafter = [item for item in known if (item.name == drafter if drafter else item.method == method)]
    found = [item for item in of_drafter if item.task == task and item.mode == mode]
    names = sorted({item.name for item in found})
    if len(names) > 1:
        return _refused(f"{len(names)} drafters of this model were measured", f"Add `drafter:` {' or '.join(names)}.")
    if not found:
        offers = sorted({f"{item.name} ({item.method}, {item.task}, {item.mode})" for item in known})
        hint = f"Measured of this model: {'; '.join(offers)}." if offers else "Declare the engine's acceptance_length."
        wanted = f"{drafter or method}, {task}, {mode}"
        return _refused(f"no acceptance was measured of this model with {wanted}", hint)
    (table,) = found
    if proposed > len(table.lengths):
        most = len(table.lengths)
        return _refused(f"measured up to {most} proposed tokens, {proposed} are asked", f"Propose {most} at most.")
    length = table.lengths[proposed - 1]
    text = f"{length:g} tokens a step at {proposed} proposals, measured on {task} prompts, {mode} ({table.source})"
    return {"acceptance_length": length, "measured": text}, []


def _refused(message: str, hint: str) -> tuple[dict[str, Any], list[Fault]]:
    return {"acceptance_length": 1.0}, [(WHERE, message, hint)]
