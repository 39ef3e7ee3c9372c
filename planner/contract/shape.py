"""Whether a document has the shape of its kind: keys, types, values, units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract import schemas, wording
from planner.contract.problem import Problem
from planner.contract.reading import items, section
from planner.source.document import NodePath

LEVERS = ("levers",)


def problems(data: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """What the schema of the kind says, and what the engine and the levers that are used say."""
    refused = False
    for problem in _against(schemas.of_kind(kind), data, ()):
        refused = refused or problem.path == LEVERS
        yield problem
    if kind == "Deployment":
        yield from _engine(data)
        for index, item in items(data, *LEVERS) if not refused else ():
            yield from _lever(item, (*LEVERS, index))


def _engine(data: Mapping[str, Any]) -> Iterator[Problem]:
    settings = section(data, "engine")
    if not settings:
        return
    name = settings.get("name")
    validator = schemas.of_engine(name) if isinstance(name, str) or name is None else None
    if validator is not None:
        yield from _against(validator, settings, ("engine",))


def _lever(item: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    use = item.get("use")
    validator = schemas.of_lever(use) if isinstance(use, str) else None
    if validator is not None:
        yield from _against(validator, item, path)


def _against(validator: Any, value: Any, path: NodePath) -> Iterator[Problem]:
    for error in validator.iter_errors(value):
        yield from wording.problems(error, path)
