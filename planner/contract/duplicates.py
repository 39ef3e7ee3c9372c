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
    yield from _adopted_twice(data)


def _adopted_twice(data: Mapping[str, Any]) -> Iterator[Problem]:
    """One switch has one position: of uses of one lever under several names one ships. Overlays add up."""
    shipped: dict[str, str] = {}
    for index, item in items(data, "levers"):
        use, name = item.get("use"), item.get("name")
        if not isinstance(use, str) or use == "change" or item.get("status", "adopt") != "adopt":
            continue
        if use in shipped and isinstance(name, str) and name != shipped[use]:
            message = f"the stack adopts {quoted(use)} as {quoted(shipped[use])} and as {quoted(name)}"
            yield Problem(
                "contradicting-lever", ("levers", index), message, "Keep one; `status: consider` for the other."
            )
        shipped.setdefault(use, name if isinstance(name, str) else use)


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
