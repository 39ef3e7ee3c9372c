"""Text from a spec, made fit to print: no control characters, no reordering of what one reads, bounded length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TypeVar

from planner.findings import Location
from planner.source.document import Document

LONGEST = 600
MOST_ROWS = 100
_Item = TypeVar("_Item")

# C0 and C1 controls, bidirectional overrides and isolates, zero-width and byte-order marks, lone surrogates.
_UNFIT = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]"
)
_BREAKS = re.compile("[\\s\u0085\u2028\u2029]+")


def one_line(text: str, longest: int = LONGEST) -> str:
    """`text` on one line, unfit characters shown as U+FFFD, cut at `longest` characters with an ellipsis."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return _BREAKS.sub(" ", _UNFIT.sub("\ufffd", cut)).strip()


def block(text: str, longest: int = 4000) -> str:
    """`text` with its line breaks, everything else as `one_line`."""
    lines = re.split("\r\n|[\n\r\u0085\u2028\u2029]", text[:longest])
    return "\n".join(_UNFIT.sub("\ufffd", line).rstrip() for line in lines).strip("\n")


def first_rows(rows: Sequence[_Item]) -> tuple[tuple[_Item, ...], int]:
    """(the rows to print, how many are left out): a report stays readable, and its size bounded."""
    return tuple(rows[:MOST_ROWS]), max(len(rows) - MOST_ROWS, 0)


def sentence(text: str) -> str:
    """`text` with a capital and a full stop, so that what modules say as clauses reads as sentences."""
    first, space, rest = text.partition(" ")
    start = first.capitalize() if space and first.isalpha() and first.islower() else first
    return f"{start}{space}{rest}" if not text or text.endswith((".", "!", "?")) else f"{start}{space}{rest}."


def project_path(document: Document, file: str) -> str:
    """`file`, as the caller named it, from the project's root: the same wherever it is called from."""
    path = PurePath(document.folders.get(file, document.folder)) / PurePath(file).name
    return path.relative_to(document.root).as_posix() if path.is_relative_to(document.root) else path.name


def where(document: Document, location: Location | None, path: str) -> str:
    """A finding's place: its path in the spec, so that a comment added above it changes nothing; else the line."""
    if path:
        return path
    if location is None:
        return ""
    return f"{project_path(document, location.file)}:{location.line}:{location.column}"
