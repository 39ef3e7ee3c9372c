"""Markdown that says exactly what a text says: nothing in it becomes markup, a link, a mention or a reference."""

from __future__ import annotations

import re

from planner.report.text import block, one_line

# A zero-width space parts what a renderer would join: `@name`, `#12`, `www.`, and addresses that are not plain.
# It is written as an entity at the end; `one_line` leaves none in the text itself.
_PART = "\u200b"
_ADDRESS = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9./_~%?=&+#:,-]*[A-Za-z0-9/]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ALWAYS = re.compile(r"[\\`*\[\]|~$&<>]")
_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_MENTION = re.compile(r"@(?=\w)")
_REFERENCE = re.compile(r"(#|\bGH-)(?=\d)", re.IGNORECASE)
_SCHEME = re.compile(r"\b(https?|ftp|mailto|xmpp|javascript|data):", re.IGNORECASE)
_WORLD = re.compile(r"\b(www)\.", re.IGNORECASE)
_BLOCK_START = re.compile(r"^(::|#{1,6}(?=\s|$)|[-+](?=\s|$|-)|=+|\d{1,9}(?=[.)](\s|$)))")


def escape(text: str) -> str:
    """`text` on one line, safe in a paragraph, a heading, a list item and a table cell. Addresses become code."""
    line = one_line(text)
    parts, position = [], 0
    for match in _ADDRESS.finditer(line):
        parts.append(_escape_words(line[position : match.start()]))
        parts.append(f"`{match.group()}`")
        position = match.end()
    parts.append(_escape_words(line[position:]))
    escaped = "".join(parts).replace(_PART, "&#8203;")
    return _BLOCK_START.sub(_escape_start, escaped)


def _escape_start(match: re.Match[str]) -> str:
    text = match.group()
    return f"{text}\\" if text.isdigit() else f"\\{text}"


def _escape_words(text: str) -> str:
    text = _ALWAYS.sub(lambda match: _ENTITIES.get(match.group(), f"\\{match.group()}"), text)
    text = _UNDERSCORE.sub(r"\\_", text)
    text = _MENTION.sub(f"@{_PART}", text)
    text = _REFERENCE.sub(rf"\1{_PART}", text)
    text = _SCHEME.sub(rf"\1{_PART}:", text)
    return _WORLD.sub(rf"\1{_PART}.", text)


def code_span(text: str) -> str:
    """`text` as code on one line, also in a table cell."""
    line = one_line(text)
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}".replace("|", "\\|")


def fenced(text: str, language: str = "") -> str:
    """`text` as a block of code, behind a fence that nothing in it can close."""
    lines = block(text)
    fence = "`" * max(3, _longest_run(lines) + 1)
    return f"{fence}{language}\n{lines}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
