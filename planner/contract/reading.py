"""Reading a document that may be wrong anywhere: what has another type reads as absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def section(node: Any, *keys: str) -> Mapping[str, Any]:
    """The map under `keys`, empty where there is none."""
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else {}


def items(node: Any, *keys: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(index, item) of the maps in the list under `keys`."""
    found = section(node, *keys[:-1]).get(keys[-1])
    if isinstance(found, list):
        for index, item in enumerate(found):
            if isinstance(item, Mapping):
                yield index, item


def number(value: Any) -> float | None:
    """A number that is one; None for anything else, truth values included."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole(value: Any) -> int | None:
    """A whole number of at least one."""
    found = number(value)
    return int(found) if found is not None and 1 <= found < 1e15 and found == int(found) else None
