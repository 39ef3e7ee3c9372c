"""Whether a document says what it is: `apiVersion` and `kind`, on which everything else depends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract import schemas
from planner.contract.nearest import suggestion
from planner.contract.problem import Problem
from planner.quoting import quoted


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Nothing where the document's kind has a schema."""
    version = data.get("apiVersion")
    if "apiVersion" not in data:
        yield _missing(data, "apiVersion", f"Start the file with `apiVersion: {schemas.VERSION}`.")
    elif version != schemas.VERSION:
        message = f"read {quoted(version)}; this planner knows {quoted(schemas.VERSION)}"
        yield Problem("unknown-api-version", ("apiVersion",), message, f"Write `apiVersion: {schemas.VERSION}`.")
    kind = data.get("kind")
    if "kind" not in data:
        yield _missing(data, "kind", f"One of {', '.join(schemas.kinds())}.")
    elif kind not in schemas.kinds():
        message = f"there is no kind {quoted(kind)}"
        yield Problem("unknown-kind", ("kind",), message, suggestion(kind, schemas.kinds(), "Known kinds"))


def _missing(data: Mapping[str, Any], key: str, hint: str) -> Problem:
    near = next((name for name in data if name.lower().replace("_", "") == key.lower()), None)
    if near is not None:
        return Problem(
            "unknown-key", (near,), f"unknown key {quoted(near)}", f"Did you mean {quoted(key)}?", at_key=True
        )
    return Problem("missing-key", (), f"the document lacks the key {quoted(key)}", hint, values={"key": key})
