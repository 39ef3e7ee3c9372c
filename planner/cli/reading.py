"""Reading one spec that the command line names: a file, or standard input where it is `-`."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from planner import source
from planner.cli.writing import CouldNotError
from planner.findings import Finding
from planner.source.document import Document

NAME = "<stdin>"


def shown(path: Path) -> str:
    """The name of a spec in what is printed."""
    return NAME if path == source.STDIN else path.as_posix()


def load(path: Path, piped: bytes | None = None) -> tuple[Document | None, tuple[Finding, ...]]:
    """The document, or the findings that say why there is none. piped: what standard input had, where it is read."""
    if path == source.STDIN:
        return source.parse_bytes(standard_input() if piped is None else piped, file=NAME)
    return source.load(path, display=path.as_posix())


@cache
def standard_input() -> bytes:
    """Read once, and no further than the largest file may be."""
    try:
        return sys.stdin.buffer.read(source.LARGEST_BYTES + 1)
    except (AttributeError, OSError, ValueError) as error:
        raise CouldNotError("cannot read standard input") from error
