"""A tree of values that know where they were written: what is read, merged and then flattened to a document."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from planner.findings import Location
from planner.source.document import NodePath
from planner.source.scalars import Scalar

Place = tuple[str, int, int]
"""(file as named, line, column), both from 1."""


@dataclass(slots=True, eq=False)
class Node:
    """One value. Never changed once built: aliases and merges share nodes.

    value: a scalar, {key: node} or [node]. place: where it was written. keys: of a map, where each key was.
    text: of a plain number, as it was written ("0.10").
    """

    value: Scalar | dict[str, Node] | list[Node]
    place: Place
    keys: dict[str, Place] = field(default_factory=dict)
    text: str | None = None


@dataclass(slots=True)
class Flat:
    """A tree laid out: plain data, and tables from node paths."""

    values: dict[NodePath, Location] = field(default_factory=dict)
    keys: dict[NodePath, Location] = field(default_factory=dict)
    texts: dict[NodePath, str] = field(default_factory=dict)


def flatten(node: Node, flat: Flat, path: NodePath = ()) -> Any:
    """The plain data of `node`; positions go into `flat`. Data of aliases is copied, not shared."""
    flat.values[path] = Location(*node.place)
    value = node.value
    if isinstance(value, dict):
        data = {}
        for key, child in value.items():
            below = (*path, key)
            flat.keys[below] = Location(*node.keys[key])
            data[key] = flatten(child, flat, below)
        return data
    if isinstance(value, list):
        return [flatten(child, flat, (*path, index)) for index, child in enumerate(value)]
    if node.text is not None:
        flat.texts[path] = node.text
    return value


def digest(data: Any) -> str:
    """SHA-256 of plain data, in hexadecimal: the same for any order of keys."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
