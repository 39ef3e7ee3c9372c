"""A Calibration document as text: the same input gives the same bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from planner.calibration import Outcome
from planner.calibration.memory import measured_memory
from planner.calibration.predicting import NAMES
from planner.calibration.residuals import bands, residuals
from planner.calibration.subject import subject
from planner.calibration.wording import run_text, value_text
from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement
from planner.domain.plan import Plan
from planner.format import percent

HEAD = (
    "# Made by `planner calibrate`. A spec uses it with `calibration:`; on another subject it is stale and not used.\n"
)


def text(plan: Plan, outcome: Outcome, measurements: Sequence[Measurement], date: str, version: str) -> str:
    """The document. date: ISO. version: of the planner."""
    body: dict[str, Any] = {
        "apiVersion": "planner/v1",
        "kind": "Calibration",
        "metadata": {"name": plan.name},
        "date": date,
        "planner": version,
        "subject": _subject(subject(plan, [outcome.points[index] for index in outcome.used], measurements)),
        "scalars": _scalars(outcome),
        "bands": {of: _bands(outcome, of) for of in ("calibrated", "family")},
    }
    memory = measured_memory(measurements)
    if memory:
        body["memory"] = memory
    body["residuals"] = {figure: _residual(found) for figure, found in residuals(outcome).items()}
    body["points"] = [dict(_point(outcome, index)) for index in range(len(outcome.points))]
    return HEAD + "".join(f"{line}\n" for line in _lines(body, 0))


def _subject(found: Subject) -> dict[str, Any]:
    stated = {item.name: getattr(found, item.name) for item in fields(Subject)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in stated.items()
        if value not in (None, "")
    }


def _scalars(outcome: Outcome) -> dict[str, Any]:
    """Every scalar with one standard deviation to both sides; none where nothing was fitted."""
    fitted = outcome.fitted
    if fitted is None:
        return {}
    return {
        name: {"value": _factor(x), "low": _factor(x - spread), "high": _factor(x + spread)}
        for name, x, spread in zip(NAMES, fitted.logarithms, fitted.spreads, strict=True)
    }


def _factor(logarithm: float) -> float:
    return round(min(max(math.exp(logarithm), 0.01), 100.0), 4)


def _bands(outcome: Outcome, of: str) -> dict[str, Any]:
    found = bands(outcome, of)
    prompt = {"prompt": list(found.prompt)} if found.prompt is not None else {}
    return {"latency": list(found.latency), "throughput": list(found.throughput), **prompt}


def _residual(found: Any) -> dict[str, Any]:
    pair = {name: getattr(found, name) for name in ("before", "after")}
    shown = {name: {"median": percent(median), "largest": percent(largest)} for name, (median, largest) in pair.items()}
    return {"points": found.points, **shown}


def _point(outcome: Outcome, index: int) -> Iterator[tuple[str, Any]]:
    point = outcome.points[index]
    yield "source", point.source
    yield "run", run_text(point)
    yield "figure", point.observation.name
    yield "measured", value_text(point, point.observation.value)
    if index not in outcome.used:
        yield "rejected", point.rejected
        return
    assert outcome.fitted is not None
    place = outcome.used.index(index)
    for name, values in (("before", outcome.fitted.before), ("after", outcome.fitted.after)):
        yield name, value_text(point, point.observation.value * math.exp(values[place]))
    yield "weight", round(outcome.fitted.weights[place], 2)


def _lines(node: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Block style; maps of plain values below the second level on one line."""
    indent = "  " * depth
    for key, value in node.items():
        if isinstance(value, Mapping) and value and not _flat(value, depth):
            yield f"{indent}{key}:"
            yield from _lines(value, depth + 1)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f"{indent}{key}:"
            for item in value:
                yield from _item(item, depth + 1)
        else:
            yield f"{indent}{key}: {_flow(value)}"


def _item(item: Mapping[str, Any], depth: int) -> Iterator[str]:
    for place, (key, value) in enumerate(item.items()):
        yield f"{'  ' * depth}{'- ' if place == 0 else '  '}{key}: {_flow(value)}"


def _flat(value: Mapping[str, Any], depth: int) -> bool:
    return depth > 0 and not any(isinstance(item, Mapping) for item in value.values())


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=True)
