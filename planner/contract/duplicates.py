"""Items of one list that nothing tells apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items
from planner.quoting import quoted
from planner.source.document import NodePath


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _twice(data, ("workload", "classes"), "two classes are called", "Rename one of them.")
    hint = "Remove one, or give each a `name` of its own."
    yield from _twice(data, ("levers",), "two levers of the stack are", hint)


def _twice(data: Mapping[str, Any], path: tuple[str, ...], said: str, hint: str) -> Iterator[Problem]:
    """A second item of the same name; what has no name goes by what it uses."""
    seen: set[str] = set()
    for index, item in items(data, *path):
        key = "name" if isinstance(item.get("name"), str) else "use"
        name = item.get(key)
        if not isinstance(name, str):
            continue
        place: NodePath = (*path, index, key)
        if name in seen:
            yield Problem("duplicate-name", place, f"{said} {quoted(name)}", hint, values={"name": name})
        seen.add(name)
