"""What a simulation writes down: gaps between tokens as weighted stretches, and how full the engine was."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import fsum, inf


@dataclass(slots=True)
class Gaps:
    """Stretches of gaps: `count` steps of first, first + rise, ... seconds, each seen by `weight` tokens.

    rows: start, first, rise, count, weight of each stretch, one after another, 40 bytes a stretch.
    """

    rows: array[float] = field(default_factory=lambda: array("d"))

    def stretches(self, begin_s: float = 0.0, end_s: float = inf) -> list[tuple[float, float, float, float]]:
        """(first, rise, count, weight) of those that start between `begin_s` and `end_s`."""
        rows = self.rows
        columns = zip(rows[1::5], rows[2::5], rows[3::5], rows[4::5], strict=True)
        if begin_s <= 0.0 and end_s == inf:
            return list(columns)
        return [row for start, row in zip(rows[0::5], columns, strict=True) if begin_s <= start <= end_s]


@dataclass(slots=True)
class Occupancy:
    """How full the engine was, as sums over time: sequences x seconds and blocks x seconds.

    rows: (time, sequences x s, blocks x s) up to that time, thinned out as they grow: what lies between two rows that
    are kept has its exact mean still. most_running, most_blocks: the peaks.
    """

    most: int = 4096
    every: int = 1
    end_s: float = 0.0
    running_s: float = 0.0
    block_s: float = 0.0
    most_running: int = 0
    most_blocks: int = 0
    rows: list[tuple[float, float, float]] = field(default_factory=lambda: [(0.0, 0.0, 0.0)])
    _skipped: int = 0

    def passed(self, begin_s: float, duration_s: float, running: int, blocks: int) -> None:
        """A stretch of time during which so many sequences ran and so many blocks were in use."""
        if begin_s > self.end_s:
            self._note(begin_s)  # the engine was idle until then
        self.end_s = end_s = begin_s + duration_s
        self.running_s += running * duration_s
        self.block_s += blocks * duration_s
        if running > self.most_running:
            self.most_running = running
        if blocks > self.most_blocks:
            self.most_blocks = blocks
        self._note(end_s)

    def _note(self, at: float) -> None:
        self._skipped += 1
        if self._skipped < self.every:
            return
        self._skipped = 0
        self.rows.append((at, self.running_s, self.block_s))
        if len(self.rows) >= 2 * self.most:
            self.rows = self.rows[::2]
            self.every *= 2

    def until(self, at: float) -> tuple[float, float]:
        """(sequences x s, blocks x s) up to a time, straight between rows."""
        rows = self.rows
        index = bisect_right(rows, at, key=lambda row: row[0])
        if index == len(rows):
            return self.running_s, self.block_s
        begin, running, blocks = rows[index - 1]
        share = (at - begin) / (rows[index][0] - begin)
        return running + share * (rows[index][1] - running), blocks + share * (rows[index][2] - blocks)


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean by exact summation."""
    return fsum(values) / len(values)


def quantiles(values: Iterable[float], levels: Sequence[float]) -> list[float]:
    """Smallest value that a share `level` of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return [ordered[min(max(-int(-level * len(ordered) // 1) - 1, 0), last)] for level in levels]


def gap_quantile(stretches: Sequence[tuple[float, float, float, float]], level: float) -> float:
    """Smallest gap that a share `level` of all gaps does not exceed, exact over the stretches."""
    return gap_quantiles(stretches, (level,))[0]


def gap_quantiles(stretches: Sequence[tuple[float, float, float, float]], levels: Sequence[float]) -> list[float]:
    """The same at several levels.

    A gap lies between the first and the last of its stretch, so the quantile lies between that of the firsts and
    that of the lasts. Only the few stretches that reach into this bracket are bisected.
    """
    sizes = [count * weight for _, _, count, weight in stretches]
    firsts = [row[0] for row in stretches]
    lasts = [first + rise * (count - 1) for first, rise, count, _ in stretches]
    # A hair less, so that a level that falls between two gaps does not hang on the last bit of a sum.
    total = fsum(sizes) * (1.0 - 1e-9)
    by_first, by_last = (sorted(range(len(sizes)), key=ends.__getitem__) for ends in (firsts, lasts))
    sums_first, sums_last = (list(accumulate(sizes[index] for index in order)) for order in (by_first, by_last))
    found = []
    for level in levels:
        wanted = level * total
        low = firsts[by_first[_reached(sums_first, wanted)]]
        high = lasts[by_last[_reached(sums_last, wanted)]]
        whole = bisect_left(by_last, low, key=lasts.__getitem__)  # stretches that end below the bracket
        open_ones = [stretches[index] for index in by_last[whole:] if firsts[index] <= high]
        found.append(_between(open_ones, wanted - (sums_last[whole - 1] if whole else 0.0), low, high))
    return found


def _reached(sums: Sequence[float], wanted: float) -> int:
    """Where a running sum reaches `wanted`."""
    return min(bisect_left(sums, wanted), len(sums) - 1)


def _between(stretches: Sequence[tuple[float, float, float, float]], wanted: float, low: float, high: float) -> float:
    """The gap in [low, high] at which `wanted` tokens of the stretches are reached, by bisection."""

    def enough(gap: float) -> bool:
        return fsum(item[3] * _steps_within(item, gap) for item in stretches) >= wanted

    if enough(low):
        return low
    while high - low > 1e-13 * high:
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _steps_within(stretch: tuple[float, float, float, float], gap: float) -> float:
    """Steps of a stretch that take `gap` at most."""
    first, rise, count, _ = stretch
    if first > gap:
        return 0.0
    if rise <= 0.0 or first + rise * (count - 1) <= gap:
        return count
    return float(int((gap - first) / rise) + 1)
