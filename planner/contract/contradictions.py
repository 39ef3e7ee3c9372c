"""One switch, one meaning: a key that a lever owns against what the stack says of that lever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items, section
from planner.domain import formats
from planner.quoting import quoted
from planner.source.document import NodePath

# (key of the engine, lever, value of the key that adopts it)
_SWITCHES = (
    ("enforce_eager", "cuda-graphs", False),
    ("enable_chunked_prefill", "chunked-prefill", True),
    ("enable_prefix_caching", "prefix-caching", True),
)
Lookup = Callable[[str], formats.Format | None]
Uses = list[tuple[int, Mapping[str, Any]]]


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    engine, stack = section(data, "engine"), list(items(data, "levers"))
    for key, use, adopts in _SWITCHES:
        if isinstance(engine.get(key), bool):
            yield from _switch(("engine", key), engine[key] is adopts, _of(stack, use))
    cache = engine.get("kv_cache_dtype")
    yield from _format(("engine", "kv_cache_dtype"), cache, _of(stack, "quantize-kv-cache"), formats.get_cache)
    weights = section(data, "model").get("weights")
    yield from _format(("model", "weights"), weights, _of(stack, "quantize-weights"), formats.get)
    yield from _admission(engine.get("admission"), _of(stack, "admission-policy"))


def _of(stack: Uses, use: str) -> Uses:
    return [(index, item) for index, item in stack if item.get("use") == use]


def _switch(path: NodePath, on: bool, uses: Uses) -> Iterator[Problem]:
    for index, item in uses:
        status = item.get("status", "adopt")
        if (status == "adopt") is not on and not (status == "consider" and not on):
            said = "adopts" if on else "rejects"
            yield _problem(path, index, item, f"{path[-1]} {said} the lever, but the stack says {status}")


def _format(path: NodePath, declared: Any, uses: Uses, lookup: Lookup) -> Iterator[Problem]:
    """A key under 16 bits adopts its format; the stack says the same, or nothing."""
    found = lookup(declared) if isinstance(declared, str) else None
    if found is None:
        return
    adopted = [(index, item) for index, item in uses if item.get("status", "adopt") == "adopt"]
    if found.bits >= 16:
        # No quantisation: weights are cast, then quantised; a cache has one precision.
        clashing = adopted if path[0] == "engine" else []
    elif any(_same(item.get("format"), found, lookup) for _, item in adopted):
        return
    else:
        clashing = uses
    for index, item in clashing:
        status = item.get("status", "adopt")
        what = f" of {quoted(item['format'])}" if isinstance(item.get("format"), str) else ""
        message = f"{path[-1]} is {quoted(declared)}, but the stack says {status}{what}"
        yield _problem(path, index, item, message)


def _same(written: Any, found: formats.Format, lookup: Lookup) -> bool:
    return isinstance(written, str) and lookup(written) == found


def _admission(declared: Any, uses: Uses) -> Iterator[Problem]:
    for index, item in uses:
        policy, status = item.get("policy"), item.get("status", "adopt")
        if declared is not None and status == "adopt" and policy is not None and policy != declared:
            message = f"admission is {quoted(declared)}, but the stack adopts {quoted(policy)}"
            yield _problem(("engine", "admission"), index, item, message)


def _problem(path: NodePath, index: int, item: Mapping[str, Any], message: str) -> Problem:
    hint = f"Say it once: remove {path[0]}.{path[-1]}, or the lever {quoted(item.get('use'))} from the stack."
    return Problem("contradicting-lever", path, message, hint, values={"lever": item.get("use"), "item": index})
