"""A Model document as YAML: a line a figure, small mappings on one line, the same bytes for the same data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_./ ()=+-]*(?<! )|[0-9]+x[0-9x]+|[0-9]+(?:-[0-9]+)[0-9/, -]*(?<![ ,])")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# Mappings that stay on one line: entries of these lists, and values of these keys.
_FLOW = ("cache", "state")


def text(document: Mapping[str, Any]) -> str:
    """The document, keys in the order given. Any YAML 1.1 or 1.2 reader gets the same data back."""
    return "".join(f"{line}\n" for line in _mapping(document, 0))


def _mapping(data: Mapping[str, Any], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for key, value in data.items():
        if isinstance(value, Mapping) and value and key not in _FLOW:
            yield f"{indent}{key}:"
            yield from _mapping(value, depth + 1)
        elif isinstance(value, list) and value and key not in _FLOW:
            yield f"{indent}{key}:"
            yield from _list(value, depth + 1)
        else:
            yield f"{indent}{key}: {_flow(value)}"


def _list(data: list[Any], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for item in data:
        if not (isinstance(item, Mapping) and item):
            yield f"{indent}- {_flow(item)}"
            continue
        first, *rest = _mapping(item, depth + 1)
        yield f"{indent}- {first.lstrip()}"
        yield from rest


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
    return json.dumps(value)


def _quoted(value: str) -> str:
    """Between double quotes; YAML's own escapes for what cannot be printed (JSON's surrogate pairs are none)."""
    whole = json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return whole if whole.isprintable() else "".join(map(_escaped, whole))


def _escaped(character: str) -> str:
    return character if character.isprintable() else f"\\U{ord(character):08x}"
