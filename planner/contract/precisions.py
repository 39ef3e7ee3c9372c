"""Names of number formats."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from planner.contract.nearest import suggestion
from planner.contract.problem import Problem
from planner.contract.reading import items, section
from planner.domain import formats
from planner.quoting import quoted
from planner.source.document import NodePath

_WORDS = ("published",)


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    weights = (*_WORDS, *formats.spellings())
    yield from _weights(section(data, "model"), ("model",), weights)
    cache = section(data, "engine").get("kv_cache_dtype")
    if isinstance(cache, str) and cache.lower() != "auto" and formats.get_cache(cache) is None:
        yield _unknown(cache, ("engine", "kv_cache_dtype"), "cache", formats.cache_spellings())
    for index, item in items(data, "levers"):
        path: NodePath = ("levers", index)
        if item.get("use") == "quantize-weights":
            yield from _name(item.get("format"), (*path, "format"), formats.spellings())
        for key in ("draft", "checkpoint"):
            yield from _weights(section(item, key), (*path, key), weights)


def _weights(model: Mapping[str, Any], path: NodePath, known: Collection[str]) -> Iterator[Problem]:
    yield from _name(model.get("weights"), (*path, "weights"), known)


def _name(value: Any, path: NodePath, known: Collection[str]) -> Iterator[Problem]:
    if isinstance(value, str) and value and value not in known and formats.get(value) is None:
        yield _unknown(value, path, "weights", known)


def _unknown(value: str, path: NodePath, what: str, known: Collection[str]) -> Problem:
    message = f"there is no {what} format {quoted(value)}"
    return Problem("unknown-format", path, message, suggestion(value, known, "Known formats"))
