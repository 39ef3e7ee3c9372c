"""Showing text that others wrote inside a message: short, on one line, nothing invisible."""

from __future__ import annotations

from typing import Any

LONGEST = 60


def quoted(value: Any) -> str:
    """`value` between backticks: control and invisible characters escaped, cut after 60 characters."""
    return f"`{plain(value)}`"


def plain(value: Any) -> str:
    """As `quoted`, without the backticks."""
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[…]" if value else "[]"
    text = _word(value)
    shown = visible(text[: LONGEST + 1])
    return shown if len(shown) <= LONGEST and len(text) <= LONGEST else shown[: LONGEST - 1] + "…"


def visible(text: str) -> str:
    """`text` with every control and invisible character escaped: for names of files."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def inert(line: str) -> str:
    """`line` without a command to a CI runner: `::` at its beginning, `##[` and `##vso[` anywhere in it."""
    line = line.replace("##[", "# #[").replace("##vso[", "# #vso[")
    return f"\\{line}" if line.startswith("::") else line


def _word(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
