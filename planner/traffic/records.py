"""What a simulation writes down: gaps between tokens as weighted stretches, and how full the engine was."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
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
        self.end_s = begin_s + duration_s
        self.running_s += running * duration_s
        self.block_s += blocks * duration_s
        if running > self.most_running:
            self.most_running = running
        if blocks > self.most_blocks:
            self.most_blocks = blocks
        self._note(self.end_s)

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
    total = fsum(count * weight for _, _, count, weight in stretches)
    sizes = [(count * weight, first, first + rise * (count - 1)) for first, rise, count, weight in stretches]
    firsts = sorted((first, tokens) for tokens, first, _ in sizes)
    lasts = sorted((last, tokens) for tokens, _, last in sizes)
    # A hair less, so that a level that falls between two gaps does not hang on the last bit of a sum.
    wanted = [level * total * (1.0 - 1e-9) for level in levels]
    return [
        _between(stretches, tokens, low, high)
        for tokens, low, high in zip(wanted, _reached(firsts, wanted), _reached(lasts, wanted), strict=True)
    ]


def _reached(ordered: Sequence[tuple[float, float]], wanted: Sequence[float]) -> list[float]:
    """The value at which the running sum of tokens reaches each of `wanted`."""
    sums = list(accumulate(tokens for _, tokens in ordered))
    return [ordered[min(bisect_left(sums, tokens), len(ordered) - 1)][0] for tokens in wanted]


def _between(stretches: Sequence[tuple[float, float, float, float]], wanted: float, low: float, high: float) -> float:
    """The gap in [low, high] at which `wanted` tokens are reached, by bisection on what reaches into it."""
    below, open_ones = [], []
    for item in stretches:
        first, rise, count, weight = item
        if first + rise * (count - 1) < low:
            below.append(count * weight)
        elif first <= high:
            open_ones.append(item)
    known = fsum(below)

    def enough(gap: float) -> bool:
        return known + fsum(item[3] * _steps_within(item, gap) for item in open_ones) >= wanted

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
