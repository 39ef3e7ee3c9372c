"""Time of every step of a simulation of the ideal engine: bytes over bandwidth or operations over arithmetic."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field

from planner.evaluation.service import Service
from planner.traffic.step_clock import KNOTS


@dataclass(slots=True)
class FloorClock:
    """As `traffic.step_clock.StepClock`, of a floor. The line of a batch is laid through knots of the mean context."""

    service: Service
    width: float = 1.0
    _lines: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)

    def decode_line(self, batch: int, context_sum: float) -> tuple[float, float, float]:
        """(a, slope, limit): a decode step takes a + slope x context sum while the sum stays below the limit."""
        index = max(bisect_right(KNOTS, context_sum / batch) - 1, 0)
        found = self._lines.get((batch, index))
        if found is None:
            low = KNOTS[index]
            high = KNOTS[index + 1] if index + 1 < len(KNOTS) else 2.0 * low
            first, last = (self.service.decode_s(float(batch), context) for context in (low, high))
            slope = (last - first) / ((high - low) * batch)
            found = self._lines[batch, index] = (first - slope * low * batch, slope)
        limit = KNOTS[index + 1] * batch if index + 1 < len(KNOTS) else math.inf
        return found[0], found[1], limit

    def mixed_s(self, batch: int, context_sum: float, tokens: int, pairs: float, finishing: int) -> float:
        """A prompt's chunk alone, and what the decodes add to it: the floor of both, one after the other."""
        cached = max(pairs / tokens - tokens / 2.0, 0.0)
        prefill = self.service.step.prefill(float(tokens), cached)
        if not batch:
            return max(prefill.memory_s, prefill.compute_s)
        decode = self.service.step.decode(float(batch), context_sum / batch)
        # Weights are read once for both.
        memory = prefill.memory_s + decode.memory_s - min(prefill.terms["weights_s"], decode.terms["weights_s"])
        return float(max(memory, prefill.compute_s + decode.compute_s))
