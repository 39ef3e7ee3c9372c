"""Memory by configuration: stacked bars of weights, cache and the rest against the capacity line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.domain.evaluation import Evaluation, PlanResult
from planner.format import memory
from planner.report.analysis_types import MemoryRow
from planner.report.binding import rest_bytes
from planner.report.report_model import MemoryBar, MemorySection, Segment

COLUMNS = 40
_CHARACTERS = {"weights": "█", "cache": "▓", "rest": "▒"}
_FREE, _BEYOND, _LINE = "·", " ", "┃"
KEY = "█ weights, ▓ cache, ▒ the rest, · free, ┃ capacity"


def rows_of(result: PlanResult) -> tuple[MemoryRow, ...]:
    """Baseline and shipped, for a caller that has no rows of its own."""
    return (_row("baseline", result.baseline), _row("shipped", result.shipped))


def _row(name: str, evaluation: Evaluation) -> MemoryRow:
    used = evaluation.memory
    return MemoryRow(name, used.weights_bytes, used.kv_cache_bytes, rest_bytes(used), used.usable_bytes)


def section(rows: Sequence[MemoryRow]) -> MemorySection | None:
    """All bars on one scale: the largest of what any configuration needs and has."""
    if not rows:
        return None
    scale = max(max(_needed(row), row.capacity_bytes) for row in rows)
    return MemorySection(tuple(_bar(row, scale) for row in rows), KEY) if scale > 0 else None


def _parts(row: MemoryRow) -> tuple[tuple[str, float], ...]:
    return (("weights", row.weights_bytes), ("cache", row.cache_bytes or 0.0), ("rest", row.rest_bytes))


def _needed(row: MemoryRow) -> float:
    return math.fsum(size for _, size in _parts(row))


def _bar(row: MemoryRow, scale: float) -> MemoryBar:
    needed = _needed(row)
    free = row.capacity_bytes - needed
    return MemoryBar(
        configuration=row.configuration,
        segments=_segments(row, scale),
        capacity=row.capacity_bytes / scale * 100,
        text=text_bar(row, scale),
        used=memory(needed) if row.cache_bytes is not None else f"{memory(needed)} without the cache",
        of=memory(row.capacity_bytes),
        parts=", ".join(
            (
                f"weights {memory(row.weights_bytes)}",
                f"cache {memory(row.cache_bytes)}",
                f"the rest {memory(row.rest_bytes)}",
            )
        ),
        free=f"{memory(free)} free" if free >= 0 else f"{memory(-free)} too much",
        fits=free >= 0,
    )


def _segments(row: MemoryRow, scale: float) -> tuple[Segment, ...]:
    segments, start = [], 0.0
    for part, size in _parts(row):
        width = size / scale * 100
        if width > 0:
            segments.append(Segment(part, start, width))
        start += width
    return tuple(segments)


def text_bar(row: MemoryRow, scale: float) -> str:
    """The bar in characters. Each part ends at the column nearest to its cumulative size, so that they add up."""
    ends, total = [], 0.0
    for part, size in _parts(row):
        total += size
        ends.append((_column(total, scale), _CHARACTERS[part]))
    line = _column(row.capacity_bytes, scale)
    drawn = "".join(_character(position, ends, line) for position in range(COLUMNS))
    return (drawn[:line] + _LINE + drawn[line:]).rstrip()


def _column(size: float, scale: float) -> int:
    return math.floor(size / scale * COLUMNS + 0.5)


def _character(position: int, ends: Sequence[tuple[int, str]], line: int) -> str:
    for end, character in ends:
        if position < end:
            return character
    return _FREE if position < line else _BEYOND
