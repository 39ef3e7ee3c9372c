"""What the YAML parser rejects, in words that say what to change."""

from __future__ import annotations

from typing import Any

from planner.findings import Finding, Location
from planner.quoting import plain
from planner.source.faults import fault

_INDENT = "`key: value` pairs of one map start in the same column; quote a text that holds `: `"
_HINTS = {
    "mapping values are not allowed in this context": _INDENT,
    "mapping values are not allowed here": _INDENT,
    "did not find expected key": _INDENT,
    "expected <block end>": _INDENT,
    "did not find expected '-' indicator": "items of one list start in the same column",
    "did not find expected ',' or": "a comma or the closing bracket is missing",
    "expected ',' or": "a comma or the closing bracket is missing",
    "could not find expected ':'": "a `:` is missing after the key",
    "found unexpected end of stream": "the closing quote is missing",
    "found unknown escape character": "write `\\\\` for a backslash, or use single quotes",
}


def finding(error: Any, text: str, file: str) -> Finding:
    """The finding for a parser's error, at the place that it names."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    problem = plain(getattr(error, "problem", None) or "this is not YAML").replace("\\t", "tab")
    lines = text.split("\n", line + 1)
    written = lines[line] if line < len(lines) else ""
    tab = _tab(written, column)
    if "tab" in problem or tab is not None:
        place = Location(file, line + 1, (tab if tab is not None else column) + 1)
        return fault("yaml-tab", "a tab; YAML indents with blanks only", place, hint="replace it by two blanks")
    if "nesting depth" in problem:
        return fault("yaml-depth", "nested too deep", Location(file, line + 1, column + 1))
    began = _began(error, line)
    hint = next((hint for words, hint in _HINTS.items() if words in problem), "")
    if "cannot start any token" in problem and column < len(written):
        problem = f"`{written[column]}` cannot start a value"
        hint = "put the text in quotes"
    return fault("yaml-syntax", problem + began, Location(file, line + 1, column + 1), hint=hint)


def _tab(written: str, column: int) -> int | None:
    """The column of a tab in the blank beginning of a line, or where the parser stopped."""
    blank = written[: len(written) - len(written.lstrip(" \t-?"))]
    at = blank.find("\t")
    if at >= 0 and column <= len(blank):
        return at
    return column if written[column : column + 1] == "\t" else None


def _began(error: Any, line: int) -> str:
    """Where what is still open began, if on an earlier line."""
    mark = getattr(error, "context_mark", None)
    context = plain(getattr(error, "context", None) or "")
    return f" ({context}, begun at line {mark.line + 1})" if mark is not None and mark.line != line else ""
