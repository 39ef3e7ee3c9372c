"""A progress bar on standard error: only on a terminal, and only for what takes more than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

PATIENCE_S = 2.0
EVERY_S = 0.1
WIDTH = 30


class Progress:
    """`progress(done, total)` as often as one likes; leaving the `with` wipes the bar. total 0: not known."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + PATIENCE_S
        self._drawn = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._drawn:
            self._write("\r" + " " * self._drawn + "\r")
            self._drawn = 0

    def __call__(self, done: int, total: int) -> None:
        if not self._shown:
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY_S
        line = bar(done, total, self.what)
        self._write("\r" + line.ljust(self._drawn))
        self._drawn = max(self._drawn, len(line))

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._shown = False


def bar(done: int, total: int, what: str) -> str:
    """One line: [######------]  50 %  2,000 of 4,000 requests."""
    if total <= 0:
        return f"{done:,} {what}"
    share = min(done / total, 1.0)
    full = int(share * WIDTH)
    return f"[{'#' * full}{'-' * (WIDTH - full)}] {int(share * 100):3d} %  {done:,} of {total:,} {what}"
