"""Whether a document has the shape of its kind: keys, types, values, units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner import engines
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
    elif isinstance(name, str):
        yield from _strange_to_all(settings)


def _strange_to_all(settings: Mapping[str, Any]) -> Iterator[Problem]:
    """Of an engine that there is none of: keys that no engine has, as the engine says that has most of them."""
    found = []
    for name in engines.names():
        validator = schemas.of_engine(name)
        if validator is not None:
            wrong = [item for item in _against(validator, settings, ("engine",)) if item.id == "unknown-key"]
            found.append({item.path: item for item in wrong})
    everywhere = set.intersection(*(set(item) for item in found)) if found else set()
    nearest = min(found, key=len, default={})
    yield from (problem for path, problem in nearest.items() if path in everywhere)


def _lever(item: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    use = item.get("use")
    validator = schemas.of_lever(use) if isinstance(use, str) else None
    if validator is not None:
        yield from _against(validator, item, path)


def _against(validator: Any, value: Any, path: NodePath) -> Iterator[Problem]:
    for error in validator.iter_errors(value):
        yield from wording.problems(error, path)
