"""Dates that the calendar has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items, section
from planner.quoting import quoted
from planner.source.document import NodePath


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, waiver in items(data, "waivers"):
        yield from day(waiver.get("expires"), ("waivers", index, "expires"))
    for path in (
        ("workload", "growth", "from"),
        ("metadata", "date"),
        ("hardware", "price_date"),
        ("api_price", "date"),
    ):
        yield from day(section(data, *path[:-1]).get(path[-1]), path)


def day(value: Any, path: NodePath) -> Iterator[Problem]:
    """Of a text in the form of a date; other forms are the schema's to refuse."""
    if not isinstance(value, str) or len(value) != 10 or not value[:4].isdecimal() or value[4] != "-":
        return
    try:
        date.fromisoformat(value)
    except ValueError:
        yield Problem("not-a-date", path, f"there is no day {quoted(value)}", "Write year-month-day, as 2027-01-31.")
