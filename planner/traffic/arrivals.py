"""Times of arrivals, seconds: constant, Poisson and gamma gaps. The same seed gives the same times everywhere.

Times are rounded to nanoseconds, so that the last bit of a platform's logarithm does not matter.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

PROCESSES = ("poisson", "constant", "gamma")


@dataclass(frozen=True, slots=True)
class Rise:
    """The rate rises from `start_s` on, evenly within `ramp_s`, to `factor` times what it was."""

    start_s: float
    ramp_s: float
    factor: float

    def at(self, even_s: float) -> float:
        """When what would have come at `even_s` at the first rate comes: the time with as many arrivals before it.

        arrivals(t) = t before the rise, then s + x + (f - 1) x^2 / (2 r) at x = t - s, then f more each second.
        """
        left = even_s - self.start_s
        if left <= 0.0:
            return even_s
        more = self.factor - 1.0
        ramp = self.ramp_s
        in_ramp = ramp * (1.0 + more / 2.0)
        if left >= in_ramp:
            return self.start_s + ramp + (left - in_ramp) / self.factor
        # x + more x^2 / (2 ramp) = left
        return self.start_s + 2.0 * left / (1.0 + math.sqrt(1.0 + 2.0 * more * left / ramp))


def generator(seed: int, stream: str) -> random.Random:
    """Random numbers of one stream: streams of one seed do not depend on one another."""
    return random.Random(f"{seed}/{stream}")


def gaps(process: str, rate_per_s: float, variation: float, source: random.Random) -> Iterator[float]:
    """Times between arrivals: mean 1 / rate, coefficient of variation 0, 1, or `variation`.

    Gamma gaps have shape k = 1 / variation^2 and scale variation^2 / rate.
    """
    mean = 1.0 / rate_per_s
    if process == "constant":
        while True:
            yield mean
    if process == "gamma" and variation > 0.0:
        shape = 1.0 / variation**2
        while True:
            yield source.gammavariate(shape, mean / shape)
    while True:
        yield source.expovariate(rate_per_s)


def times(process: str, rate_per_s: float, variation: float, seed: int, stream: str = "arrivals") -> Iterator[float]:
    """Arrival times from 0 on, without end. A constant process begins at 0, the others after a first gap."""
    now = 0.0
    if process == "constant":
        index = 0
        while True:
            yield round(index / rate_per_s, 9)
            index += 1
    for gap in gaps(process, rate_per_s, variation, generator(seed, stream)):
        now += gap
        yield round(now, 9)
