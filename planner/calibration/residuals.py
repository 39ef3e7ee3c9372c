"""How far estimates are off, and the bands that follow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.calibration import Outcome
from planner.calibration.prior import prior
from planner.domain.calibration import CalibrationBands
from planner.domain.measurement import RATES

WIDE = 1.645
"""Normal quantile of a band that nine of ten figures lie in."""
KINDS = {**dict.fromkeys(RATES, "throughput"), **dict.fromkeys(("time_to_first_token", "prefill"), "prompt")}
"""Figures that are no latency of steps."""
KNOWN = 5.0
"""The prior's width counts as much as so many points."""


@dataclass(frozen=True, slots=True)
class Residuals:
    """Of one figure, relative errors exp|r| - 1."""

    points: int
    before: tuple[float, float]
    after: tuple[float, float]


def residuals(outcome: Outcome) -> Mapping[str, Residuals]:
    """{figure: median and largest, before and after} of the points that were used."""
    found: dict[str, Residuals] = {}
    if outcome.fitted is None:
        return found
    figures = [outcome.points[index].observation.figure for index in outcome.used]
    for figure in sorted(set(figures)):
        own = [place for place, name in enumerate(figures) if name == figure]
        before, after = (
            _middle_and_end([values[place] for place in own])
            for values in (outcome.fitted.before, outcome.fitted.after)
        )
        found[figure] = Residuals(len(own), before, after)
    return found


def _middle_and_end(values: Sequence[float]) -> tuple[float, float]:
    errors = sorted(math.expm1(abs(value)) for value in values)
    middle = len(errors) // 2
    median = errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2.0
    return median, errors[-1]


def bands(outcome: Outcome, of: str) -> CalibrationBands:
    """of: calibrated, or family. Wider than the prior's where the points are farther off, a little narrower never.

    Half a width is 1.645 sigma, sigma^2 = (KNOWN w^2 + sum of r^2) / (KNOWN + points), w the prior's width / 1.645:
    each point's weighted residual beside the prior. Logarithms.
    """
    widths = prior().bands[of]
    found = {kind: _band(_weighed(outcome, kind), widths[kind]) for kind in ("latency", "throughput", "prompt")}
    prompt = found["prompt"] if _weighed(outcome, "prompt") else None
    return CalibrationBands(found["latency"], found["throughput"], prompt)


def _weighed(outcome: Outcome, kind: str) -> list[float]:
    """Squares of the residuals of one kind of figure, each by its point's weight."""
    if outcome.fitted is None:
        return []
    figures = [outcome.points[index].observation.figure for index in outcome.used]
    return [
        outcome.fitted.weights[place] * outcome.fitted.after[place] ** 2
        for place, figure in enumerate(figures)
        if KINDS.get(figure, "latency") == kind
    ]


def _band(own: Sequence[float], width: float) -> tuple[float, float]:
    known = width / WIDE
    sigma = math.sqrt((KNOWN * known**2 + math.fsum(own)) / (KNOWN + len(own)))
    half = max(WIDE * sigma, width)
    return round(math.exp(-half), 3), round(math.exp(half), 3)
