"""Axes of charts: where a value stands between two ends, and round numbers to write beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.report.report_model import Tick

STEPS = (1.0, 2.0, 5.0)
DECADES = range(-9, 13)


@dataclass(frozen=True, slots=True)
class Axis:
    """From low to high, by value or by its logarithm. high > low; low > 0 where logarithmic."""

    low: float
    high: float
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Where a value stands, in per cent of the axis: 0 at low, 100 at high; what is beyond stands at the end."""
        if self.logarithmic:
            value = max(value, self.low)
            found = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            found = (value - self.low) / (self.high - self.low)
        return 100.0 * min(max(found, 0.0), 1.0)

    def ticks(self, most: int, text: Callable[[float], str]) -> tuple[Tick, ...]:
        """At most so many round numbers on the axis."""
        return tuple(Tick(self.share(value), text(value)) for value in self._round(most))

    def _round(self, most: int) -> list[float]:
        if self.logarithmic:
            every = [step * 10.0**power for power in DECADES for step in STEPS]
            inside = [value for value in every if self.low <= value * (1 + 1e-9) and value <= self.high * (1 + 1e-9)]
            return inside if len(inside) <= most else inside[:: math.ceil(len(inside) / most)]
        width = round_up((self.high - self.low) / most)
        first = math.ceil(self.low / width - 1e-9)
        return [width * index for index in range(first, math.floor(self.high / width + 1e-9) + 1)]


def round_up(value: float) -> float:
    """The next of 1, 2, 5 times a power of ten; 1 of nothing."""
    if value <= 0.0:
        return 1.0
    every = (step * 10.0**power for power in DECADES for step in STEPS)
    return next((found for found in every if found >= value * (1.0 - 1e-9)), value)


def round_down(value: float) -> float:
    """The last of 1, 2, 5 times a power of ten that is not above; the smallest of nothing."""
    every = [step * 10.0**power for power in DECADES for step in STEPS]
    return next((found for found in reversed(every) if found <= value * (1.0 + 1e-9)), every[0])


def from_zero(values: Sequence[float], least: float = 1.0) -> Axis:
    """From 0 to a little above the largest, `least` at least."""
    largest = max((value for value in values if math.isfinite(value)), default=0.0)
    return Axis(0.0, max(largest * 1.04, least))


def around(values: Sequence[float]) -> Axis:
    """Logarithmic, from a round number below the smallest to one above the largest. Values above 0."""
    known = [value for value in values if value > 0.0 and math.isfinite(value)]
    low, high = round_down(min(known, default=1e-3)), round_up(max(known, default=1.0))
    return Axis(low, high if high > low else low * 10.0, logarithmic=True)
