"""Time of messages between the ranks of one replica: measured tables interpolated, a formula where there is none."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from planner.physics import elementwise


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """Measured time of one collective by message size, ascending.

    log_bytes: natural logarithms of the sizes. log_s: of the times; an entry may be an array, one value for each
    candidate, as long as all share the sizes.
    """

    log_bytes: tuple[float, ...]
    log_s: tuple[Any, ...]

    @classmethod
    def of(cls, points: tuple[tuple[float, float], ...]) -> LatencyTable:
        """From (message bytes, seconds), ascending."""
        return cls(tuple(math.log(size) for size, _ in points), tuple(math.log(time) for _, time in points))


def interpolated_s(message_bytes: Any, table: LatencyTable) -> Any:
    """Time of a message: linear between the logarithms of the two sizes around it, seconds.

    Below the smallest size its time; above the largest, time grows with the bytes. A fit of latency and
    bandwidth to such tables is off by up to 2.4 times (algorithms change with the size), the table is not.
    """
    log_size = elementwise.logarithm(message_bytes)
    sizes, times = table.log_bytes, table.log_s
    if isinstance(log_size, float) and isinstance(times[0], float):
        return math.exp(_between(log_size, sizes, times))
    log_time = times[0] + 0.0 * log_size
    for index in range(1, len(sizes)):
        share = elementwise.minimum((log_size - sizes[index - 1]) / (sizes[index] - sizes[index - 1]), 1.0)
        log_time = log_time + elementwise.maximum(share, 0.0) * (times[index] - times[index - 1])
    return elementwise.exponential(log_time + elementwise.maximum(log_size - sizes[-1], 0.0))


def _between(log_size: float, sizes: tuple[float, ...], times: tuple[Any, ...]) -> float:
    if log_size <= sizes[0]:
        return float(times[0])
    if log_size >= sizes[-1]:
        return float(times[-1]) + log_size - sizes[-1]
    index = bisect_right(sizes, log_size)
    share = (log_size - sizes[index - 1]) / (sizes[index] - sizes[index - 1])
    return float(times[index - 1] + share * (times[index] - times[index - 1]))


def ring_table(ranks: float, link_bytes_per_s: float, latency_s: float, sizes: tuple[float, ...]) -> LatencyTable:
    """A table by formula: latency + 2 (N - 1)/N bytes / link, at `sizes`.

    latency_s: of the whole all-reduce. link_bytes_per_s: achieved, per rank and direction.
    """
    share = 2.0 * (ranks - 1.0) / ranks
    return LatencyTable.of(tuple((size, latency_s + share * size / link_bytes_per_s) for size in sizes))
