"""What a simulation writes down: gaps between tokens as weighted stretches, and how full the engine was."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum


@dataclass(slots=True)
class Gaps:
    """Stretches of gaps: `count` steps of first, first + rise, ... seconds, each seen by `weight` tokens."""

    start: array[float] = field(default_factory=lambda: array("d"))
    first: array[float] = field(default_factory=lambda: array("d"))
    rise: array[float] = field(default_factory=lambda: array("d"))
    count: array[float] = field(default_factory=lambda: array("d"))
    weight: array[float] = field(default_factory=lambda: array("d"))

    def writer(self) -> Callable[[float, float, float, float, float], None]:
        """append(start, first, rise, count, weight)."""
        columns = (self.start.append, self.first.append, self.rise.append, self.count.append, self.weight.append)
        start, first, rise, count, weight = columns

        def write(at: float, gap: float, more: float, steps: float, tokens: float) -> None:
            start(at)
            first(gap)
            rise(more)
            count(steps)
            weight(tokens)

        return write

    def stretches(self, begin_s: float = 0.0) -> list[tuple[float, float, float, float]]:
        """(first, rise, count, weight) of those that start at `begin_s` or later."""
        rows = zip(self.start, self.first, self.rise, self.count, self.weight, strict=True)
        return [row[1:] for row in rows if row[0] >= begin_s]


@dataclass(slots=True)
class Occupancy:
    """How full the engine was, over time: seconds, running, waiting, blocks in use. Thinned out as it grows."""

    most: int = 4096
    every: int = 1
    rows: list[tuple[float, int, int, int]] = field(default_factory=list)
    _skipped: int = 0

    def note(self, at: float, running: int, waiting: int, blocks: int) -> None:
        self._skipped += 1
        if self._skipped < self.every:
            return
        self._skipped = 0
        self.rows.append((at, running, waiting, blocks))
        if len(self.rows) >= 2 * self.most:
            self.rows = self.rows[::2]
            self.every *= 2


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean by exact summation."""
    return fsum(values) / len(values)


def quantiles(values: Iterable[float], levels: Sequence[float]) -> list[float]:
    """Smallest value that a share `level` of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return [ordered[min(max(-int(-level * len(ordered) // 1) - 1, 0), last)] for level in levels]


def gap_quantile(stretches: Sequence[tuple[float, float, float, float]], level: float) -> float:
    """Smallest gap that a share `level` of all gaps does not exceed, exact over the stretches.

    Bisection on the gap; a stretch that lies wholly on one side of the bracket is counted once and looked at no
    more, so the work halves from round to round.
    """
    # A hair less, so that a level that falls between two gaps does not hang on the last bit of a sum.
    wanted = level * fsum(count * weight for _, _, count, weight in stretches) * (1.0 - 1e-9)
    low, high = 0.0, max(first + rise * (count - 1) for first, rise, count, _ in stretches)
    below, open_ones = 0.0, list(stretches)
    for _ in range(200):
        if high - low <= 1e-13 * high or not open_ones:
            break
        middle = (low + high) / 2.0
        reached = below + sum(weight * _steps_within(item, middle) for item in open_ones for weight in (item[3],))
        if reached >= wanted:
            high = middle
        else:
            low = middle
        still = []
        for item in open_ones:
            first, rise, count, weight = item
            last = first + rise * (count - 1)
            if last <= low:
                below += count * weight
            elif first <= high:
                still.append(item)
        open_ones = still
    return high


def _steps_within(stretch: tuple[float, float, float, float], gap: float) -> float:
    """Steps of a stretch that take `gap` at most."""
    first, rise, count, _ = stretch
    if first > gap:
        return 0.0
    if rise <= 0.0 or first + rise * (count - 1) <= gap:
        return count
    return float(int((gap - first) / rise) + 1)
