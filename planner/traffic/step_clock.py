"""Time of every step of a simulation, from the coefficients of `planner.physics.step`, remembered where it repeats.

An engine's iteration passes all pipeline stages. Its time depends on the tokens in it, on who decodes and on how
much cache they read:

    decode iteration of B sequences:  a(B, k) + slope(B, k) S                 S: their cached tokens together
    iteration with prompt tokens:     step_s(B, S, prompt tokens, pairs), a stage after another

S grows by the same amount every step, so n decode iterations cost n (a + slope S) + slope g n (n - 1) / 2, with g
tokens of growth an iteration. Where the true time bends (a window that fills, launches outside graphs) the line is
laid through knots of the mean context, k: both a stretch of steps and single steps read the same line.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from planner.physics.scalar_step import StepFunction, step_function
from planner.physics.serving import decode_step_s
from planner.physics.step import StepCost

KNOTS = (0.0, *(2.0**power for power in range(6, 25)))
"""Mean contexts, tokens, between which a bent line is straight."""
REMEMBERED = 100_000
"""Entries of a memory of times, so that a long run with ever new sizes stays bounded."""


def nothing(batch: float) -> float:
    """No time beside the step."""
    return 0.0


@dataclass(slots=True)
class StepClock:
    """Times of one engine rank, seconds.

    cost: coefficients of one stage. width: tokens a decoding sequence brings to a step. drafting_s: time of drafting
    before a step, by the number of sequences. chunk_tokens: prompt tokens that one stage takes at once.
    prompt_extra_s: of a prompt, once. together: data-parallel ranks that step in time with each other; decodes are
    spread evenly over them, and a step lasts as long as the rank with most prompt tokens takes.
    """

    cost: StepCost
    chunk_tokens: float
    width: float = 1.0
    drafting_s: Callable[[float], float] = nothing
    prompt_extra_s: float = 0.0
    together: int = 1
    _knots: tuple[float, ...] = field(init=False)
    _lines: dict[tuple[int, int], tuple[float, float, float]] = field(default_factory=dict)
    _drafting: dict[float, float] = field(default_factory=dict)
    _step: StepFunction = field(init=False)

    def __post_init__(self) -> None:
        windows = {float(item.window) for item in self.cost.attention if item.window is not None}
        bent = not self.cost.captured or self.cost.merged
        self._knots = tuple(sorted({*(KNOTS if bent else (0.0,)), *windows}))
        self._step = step_function(self.cost, self.width)

    def decode_line(self, batch: int, context_sum: float) -> tuple[float, float, float]:
        """(a, slope, limit): an iteration takes a + slope x context sum while the sum stays below the limit."""
        knots = self._knots
        index = max(bisect_right(knots, context_sum / batch) - 1, 0) if len(knots) > 1 else 0
        found = self._lines.get((batch, index))
        if found is None:
            if len(self._lines) > REMEMBERED:
                self._lines.clear()
            base, slope = self._line(batch, index)
            limit = knots[index + 1] * batch if index + 1 < len(knots) else math.inf
            found = self._lines[batch, index] = base, slope, limit
        return found

    def _line(self, batch: int, index: int) -> tuple[float, float]:
        low = self._knots[index]
        high = self._knots[index + 1] if index + 1 < len(self._knots) else 2.0 * low + 4096.0
        first, last = (self._decode_s(batch, context) for context in (low, high))
        slope = (last - first) / ((high - low) * batch)
        return first - slope * low * batch, slope

    def _decode_s(self, batch: float, context: float) -> float:
        alone = batch / self.together
        return float(decode_step_s(self.cost, alone, context, self.width)) + self._drafting_s(alone)

    def _drafting_s(self, batch: float) -> float:
        if self.drafting_s is nothing:
            return 0.0
        known = self._drafting.get(batch)
        if known is None:
            known = self._drafting[batch] = self.drafting_s(float(batch)) if batch else 0.0
        return known

    def mixed_s(self, batch: float, context_sum: float, tokens: float, pairs: float, finishing: float) -> float:
        """An iteration of `batch` decodes that carries `tokens` prompt tokens, of which `finishing` prompts end.

        With s stages, as many chunks as hold the tokens go beside a share of the decodes each; the other micro-steps
        of the iteration carry decodes alone.
        """
        stages = int(self.cost.stages)
        if self.together > 1:
            busiest = self._busiest(tokens, finishing)
            batch, context_sum = batch / self.together, context_sum / self.together
            tokens, pairs, finishing = tokens * busiest, pairs * busiest, finishing * busiest
        if stages <= 1:
            return self._stage_s(float(batch), context_sum, float(tokens), pairs, finishing) + self._drafting_s(batch)
        loaded = min(max(math.ceil(tokens / self.chunk_tokens), 1), stages)
        part, context = batch / stages, context_sum / stages
        with_prompt = self._stage_s(part, context, tokens / loaded, pairs / loaded, finishing / loaded)
        plain = self._step(part, context, 0.0, 0.0, part * self.width) if batch else with_prompt
        return loaded * with_prompt + (stages - loaded) * plain + self._drafting_s(batch)

    def _busiest(self, tokens: float, finishing: float) -> float:
        """Share of a step's prompt tokens that the rank with most of them has: whole prompts, no more than a chunk."""
        prompt = min(tokens, self.chunk_tokens) / max(finishing, 1.0)
        return max(prompt / tokens, 1.0 / self.together) if tokens else 1.0

    def _stage_s(self, decodes: float, context_sum: float, tokens: float, pairs: float, finishing: float) -> float:
        step = self._step(decodes, context_sum, tokens, pairs, decodes * self.width + finishing)
        return step + finishing * self.prompt_extra_s
