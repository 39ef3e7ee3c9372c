"""The text of one file, and what it is as JSON, JSON Lines or CSV, within bounds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

LARGEST_BYTES = 64 << 20
MOST_OBJECTS = 10_000
MOST_CELLS = 1_000_000


class UnreadableError(Exception):
    """Why a file cannot be used, to be put behind its name."""


@dataclass(frozen=True)
class Content:
    """name: what findings call the file. path: where it is, for what it refers to."""

    name: str
    path: Path
    text: str

    @cached_property
    def objects(self) -> Sequence[Mapping[str, Any]]:
        """The maps of a JSON file (one, or a list of them) or of JSON Lines; none where it is neither."""
        begin = self.text.lstrip()[:1]
        if begin not in ("{", "["):
            return ()
        whole = _json(self.text)
        if whole is None:
            lines = [_json(line) for line in self.text.splitlines()[: MOST_OBJECTS + 1] if line.strip()]
            found = [] if any(line is None for line in lines) else lines
        else:
            found = whole if isinstance(whole, list) else [whole]
        if len(found) > MOST_OBJECTS:
            raise UnreadableError(f"holds more than {MOST_OBJECTS:,} results")
        return tuple(item for item in found if isinstance(item, Mapping))

    @property
    def object(self) -> Mapping[str, Any]:
        """The first map, empty where there is none."""
        return self.objects[0] if self.objects else {}

    @cached_property
    def rows(self) -> Sequence[Sequence[str]]:
        """Cells of a CSV file, blank lines left out."""
        rows, cells = [], 0
        try:
            for row in csv.reader(io.StringIO(self.text)):
                cells += len(row)
                if cells > MOST_CELLS:
                    raise UnreadableError(f"holds more than {MOST_CELLS:,} cells")
                if any(cell.strip() for cell in row):
                    rows.append([cell.strip() for cell in row])
        except csv.Error:
            return ()
        return rows

    @cached_property
    def lines(self) -> Sequence[str]:
        return self.text.splitlines()


def content_of(file: Path, name: str) -> Content:
    """Errors: UnreadableError, OSError."""
    with file.open("rb") as stream:
        raw = stream.read(LARGEST_BYTES + 1)
    if len(raw) > LARGEST_BYTES:
        raise UnreadableError(f"holds more than {LARGEST_BYTES >> 20} MiB: keep the summary, without single requests")
    try:
        return Content(name, file, raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UnreadableError("is not text in UTF-8") from None


def _json(text: str) -> Any:
    """None where it is no JSON; numbers that no one can have meant included."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
