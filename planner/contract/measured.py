"""Rules of measurements and calibrations: days that the calendar has, spans the right way round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.dates import day
from planner.contract.problem import Problem
from planner.contract.reading import number, section
from planner.source.document import NodePath


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    yield from day(data.get("date"), ("date",))
    for name, found in section(data, "scalars").items():
        ends = section(found)
        yield from _ordered([ends.get(key) for key in ("low", "value", "high")], ("scalars", name))
    for of, kinds in section(data, "bands").items():
        for kind, span in section(kinds).items():
            if isinstance(span, list):
                yield from _ordered(span, ("bands", of, kind))


def _ordered(values: list[Any], path: NodePath) -> Iterator[Problem]:
    numbers = [number(value) for value in values]
    known = [value for value in numbers if value is not None]
    if len(known) == len(values) and known != sorted(known):
        text = ", ".join(f"{value:g}" for value in known)
        yield Problem("not-in-order", path, f"{text}: these rise from the lowest to the highest")
