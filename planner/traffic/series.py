"""What happened over time: arrivals, queue, running sequences, cache and tokens of each interval of a run.

    queue    mean of requests that have arrived and are neither running nor gone
    running  mean of sequences that hold a seat
    cache    mean share of blocks in use
    tokens   of a prompt, spread evenly from its schedule to its first token; of an answer, from its first token to
             its last

All are exact means over the interval, but for tokens inside of a request and for runs so long that rows of
`records.Occupancy` were thinned out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.traffic.engine import EngineSimulation
from planner.traffic.request import Request

WIDTHS_S = tuple(factor * 10.0**power for power in range(-3, 7) for factor in (1.0, 2.0, 5.0))
MOST_INTERVALS = 10_000


@dataclass(frozen=True, slots=True)
class Interval:
    """From begin_s to end_s, of all engines together. cache: None where the cache has no limit."""

    begin_s: float
    end_s: float
    arrived: int
    completed: int
    rejected: int
    queue: float
    running: float
    cache: float | None
    input_tokens_per_s: float
    output_tokens_per_s: float


class Spread:
    """Amounts laid evenly over stretches of time, summed by interval; each costs the same, however long it is."""

    def __init__(self, width_s: float, intervals: int) -> None:
        self._width, self._parts = width_s, [0.0] * intervals
        self._full = [0.0] * (intervals + 1)

    def add(self, begin_s: float, end_s: float, amount: float) -> None:
        width, parts = self._width, self._parts
        first = min(int(begin_s / width), len(parts) - 1)
        last = min(int(end_s / width), len(parts) - 1)
        if first >= last:
            parts[first] += amount
            return
        rate = amount / (end_s - begin_s)
        parts[first] += rate * ((first + 1) * width - begin_s)
        parts[last] += rate * (end_s - last * width)
        self._full[first + 1] += rate * width
        self._full[last] -= rate * width

    def sums(self) -> list[float]:
        found, level = [], 0.0
        for part, change in zip(self._parts, self._full, strict=False):
            level += change
            found.append(part + level)
        return found


def width_for(duration_s: float, most: int) -> float:
    """The narrowest of 1, 2, 5 x 10^n seconds that cuts `duration_s` into `most` intervals at the most."""
    return next((width for width in WIDTHS_S if duration_s <= width * most), duration_s / most)


def duration_s(engines: Sequence[EngineSimulation]) -> float:
    """From 0 to the last token, or the last request that was turned away."""
    return max((item.finished_s for engine in engines for item in engine.done), default=0.0)


def series(engines: Sequence[EngineSimulation], width_s: float) -> list[Interval]:
    """Every interval of a run, empty ones included. Raises ValueError beyond MOST_INTERVALS."""
    whole = duration_s(engines)
    intervals = max(math.ceil(whole / width_s * (1.0 - 1e-12)), 1)
    if intervals > MOST_INTERVALS:
        raise ValueError(f"{intervals:,} intervals of {width_s:g} s: {MOST_INTERVALS:,} at most")
    everyone = [item for engine in engines for item in engine.done]
    edges = [min(index * width_s, whole) for index in range(intervals + 1)]
    inside, prompts, answers = (Spread(width_s, intervals) for _ in range(3))
    counts = [[0] * intervals for _ in range(3)]
    for item in everyone:
        _count(item, counts, width_s, intervals)
        inside.add(item.arrival_s, item.finished_s, item.finished_s - item.arrival_s)
        if not item.rejected:
            prompts.add(item.scheduled_s, item.first_token_s, item.prompt)
            answers.add(item.first_token_s, item.finished_s, item.output)
    held = [engine.occupancy.until(edge) for engine in engines for edge in edges]
    blocks = sum(engine.limits.blocks for engine in engines)
    return [
        _interval(index, edges, counts, held, blocks, (inside_s, prompt, answer))
        for index, (inside_s, prompt, answer) in enumerate(
            zip(inside.sums(), prompts.sums(), answers.sums(), strict=True)
        )
    ]


def _count(item: Request, counts: Sequence[list[int]], width_s: float, intervals: int) -> None:
    arrived, completed, rejected = counts
    arrived[min(int(item.arrival_s / width_s), intervals - 1)] += 1
    (rejected if item.rejected else completed)[min(int(item.finished_s / width_s), intervals - 1)] += 1


def _interval(
    index: int, edges: Sequence[float], counts: Sequence[Sequence[int]], held: Sequence[tuple[float, float]],
    blocks: int, sums: tuple[float, float, float],
) -> Interval:  # fmt: skip
    begin, end = edges[index], edges[index + 1]
    width = max(end - begin, 1e-12)
    points = len(edges)
    rows = range(index, len(held), points)
    running = math.fsum(held[row + 1][0] - held[row][0] for row in rows) / width
    used = math.fsum(held[row + 1][1] - held[row][1] for row in rows) / width
    arrived, completed, rejected = (column[index] for column in counts)
    return Interval(
        begin, end, arrived, completed, rejected, max(sums[0] / width - running, 0.0), running,
        min(max(used / blocks, 0.0), 1.0) if blocks else None, sums[1] / width, sums[2] / width,
    )  # fmt: skip
