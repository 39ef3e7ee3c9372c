"""Showing what a spec says without letting it act: no control characters, bounded length."""

from __future__ import annotations

from typing import Any


def clean(text: str, limit: int = 400) -> str:
    """`text` with every control, bidirectional and line-separating character spelled out, cut at `limit`."""
    safe = "".join(character if character.isprintable() else _escape(character) for character in text[: limit + 1])
    return safe if len(text) <= limit else safe[:limit] + "…"


def _escape(character: str) -> str:
    return repr(character)[1:-1]


def shown(value: Any, limit: int = 80) -> str:
    """A value as messages quote it: text in backquotes, numbers bare, containers by their kind."""
    if isinstance(value, str):
        return f"`{clean(value, limit)}`"
    if isinstance(value, bool) or value is None:
        return {True: "`true`", False: "`false`", None: "`null`"}[value]
    if isinstance(value, int | float):
        return f"`{value}`"
    return {"dict": "a mapping", "list": "a list"}.get(type(value).__name__, f"a {type(value).__name__}")
