"""Rules that span several keys, one module a theme."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract import (
    arguments,
    classes,
    contradictions,
    dates,
    duplicates,
    figures,
    layout,
    lengths,
    load,
    measured,
    order,
    partners,
    precisions,
)
from planner.contract.problem import Problem

THEMES: tuple[Any, ...] = (
    arguments,
    classes,
    contradictions,
    dates,
    duplicates,
    figures,
    layout,
    lengths,
    load,
    order,
    partners,
    precisions,
)
MEASURED = frozenset({"Measurement", "Calibration"})


def problems(data: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """What each theme has to say of a Deployment, and of what was measured."""
    if kind in MEASURED:
        yield from measured.problems(data)
    if kind == "Deployment":
        for theme in THEMES:
            yield from theme.problems(data)
