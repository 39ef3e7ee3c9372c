"""Figures that must rise: percentiles, and least before most. What a mean may be is said in `lengths`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items, number, section
from planner.quoting import quoted
from planner.source.document import NodePath

PERCENTILES = ("p50", "p90", "p95", "p99", "max")
LENGTHS = ("prompt_tokens", "output_tokens")
# Dimension of what is compared, by objective; every other objective is a latency.
_LIMITS = {
    "goodput": "request-rate",
    "output_tokens_per_second": "token-rate",
    "output_tokens_per_second_per_user": "token-rate",
    "cost": "cost",
    "cost_per_million_output_tokens": "money",
    "cost_per_million_tokens": "money",
    "cost_per_request": "money",
    "energy_per_output_token": "energy",
    "energy_per_request": "energy",
    "power": "power",
    "rejected_requests": "share",
    "memory_headroom": "share",
}


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, item in items(data, "workload", "classes"):
        path: NodePath = ("workload", "classes", index)
        for name in LENGTHS:
            written = section(item, name)
            values = {key: number(value) for key, value in written.items()}
            yield from _rising(values, (*path, name), written)
        yield from _objectives(section(item, "objectives"), (*path, "objectives"))
    yield from _objectives(section(data, "objectives"), ("objectives",))
    yield from _scaling(section(data, "hardware", "replicas"))


def _objectives(objectives: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    for name, limits in objectives.items():
        if not isinstance(limits, Mapping):
            continue
        dimension = _LIMITS.get(name, "time")
        values = {key: _si(value, dimension) for key, value in limits.items() if isinstance(key, str)}
        if name in _LIMITS:
            yield from _pair(values, limits, (*path, name))
        else:
            yield from _rising(values, (*path, name), limits)
            yield from _pair(values, limits, (*path, name), "mean")


def _si(value: Any, dimension: str) -> float | None:
    """The value in SI units; None where it is no such quantity, which is said elsewhere."""
    from planner import units

    return None if units.problem(value, dimension) else units.si(value, dimension)


def _rising(values: Mapping[str, float | None], path: NodePath, written: Mapping[str, Any]) -> Iterator[Problem]:
    given = [(key, value) for key in PERCENTILES if (value := values.get(key)) is not None]
    for (lower, low), (upper, high) in pairwise(given):
        if high < low:
            yield _fallen(lower, upper, path, written)


def _pair(
    values: Mapping[str, float | None], written: Mapping[str, Any], path: NodePath, lower: str = "min"
) -> Iterator[Problem]:
    least, most = values.get(lower), values.get("max")
    if least is not None and most is not None and most < least:
        yield _fallen(lower, "max", path, written)


def _scaling(replicas: Mapping[str, Any]) -> Iterator[Problem]:
    values = {key: number(replicas.get(key)) for key in ("min", "max")}
    yield from _pair(values, replicas, ("hardware", "replicas"))


def _fallen(lower: str, upper: str, path: NodePath, written: Mapping[str, Any]) -> Problem:
    message = f"{upper} is {quoted(written[upper])}, less than {lower}, which is {quoted(written[lower])}"
    return Problem("not-in-order", (*path, upper), message, f"{upper} is at least {lower}: are the two swapped?")
