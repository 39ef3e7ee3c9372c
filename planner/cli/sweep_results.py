"""Results of a sweep on disk, by the key of each run: what is there is not made again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from planner.cli.writing import CouldNotError, write_whole
from planner.quoting import visible

VERSION = "1"
EVERY_S = 2.0
"""Between two writings: a run that is lost is made again, a file of many runs takes its time."""
LARGEST_BYTES = 1 << 30


class Results:
    """In memory, and in `path` where there is one. The file is always whole: written beside its place, then moved."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows: dict[str, Any] = {} if path is None else _read(path)
        self._written = time.monotonic()
        self._changed = False

    def get(self, key: str) -> Any:
        return self._rows.get(key)

    def add(self, key: str, row: Any) -> None:
        self._rows[key] = row
        self._changed = True
        if time.monotonic() - self._written >= EVERY_S:
            self.save()

    def save(self) -> None:
        """Write what is new. Sorted by key: the same runs give the same bytes, in whatever order they were made."""
        if self._path is None or not self._changed:
            return
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(self._rows[key], ensure_ascii=True, allow_nan=False)}"
            for key in sorted(self._rows)
        )
        write_whole(self._path, f'{{"schema_version": "{VERSION}", "runs": {{\n{lines}\n}}}}\n')
        self._changed = False
        self._written = time.monotonic()


def _read(path: Path) -> dict[str, Any]:
    """The runs of a results file; none where there is no file yet. Raises CouldNotError."""
    name = visible(path.as_posix())
    try:
        if not path.exists():
            return {}
        if path.stat().st_size > LARGEST_BYTES:
            raise CouldNotError(f"{name} is larger than {LARGEST_BYTES:,} bytes; it is no results file of a sweep")
        found = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise CouldNotError(f"cannot read {name}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CouldNotError(f"{name} is no results file of a sweep; name another, or remove it") from error
    runs = found.get("runs") if isinstance(found, dict) and found.get("schema_version") == VERSION else None
    if not isinstance(runs, dict) or not all(isinstance(row, dict) and "run" in row for row in runs.values()):
        raise CouldNotError(f"{name} is no results file of a sweep; name another, or remove it")
    return runs
