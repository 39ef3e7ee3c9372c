"""Measured figures of a spec's own `measurements` beside what the plan says of the same load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from planner import evaluation
from planner.calibration import ceiling
from planner.calibration.points import Point, points_of
from planner.calibration.predicting import value_of
from planner.domain.evaluation import Bands, Evaluation
from planner.domain.measurement import RATES
from planner.domain.plan import Plan

MOST_RUNS = 50
"""Runs that are compared: each is evaluated, and simulated where it is finite."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A point, and the estimate of it with its band, SI; None where nothing is compared (`point.rejected`)."""

    point: Point
    estimate: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def outside(self) -> bool:
        """Whether what was measured lies outside the band, the step of its digits allowed for."""
        item = self.point.observation
        if self.low is None or self.high is None:
            return False
        return not self.low - item.resolution <= item.value <= self.high + item.resolution


def of_detail(plan: Plan, detail: evaluation.Detail) -> tuple[Compared, ...]:
    """As `compared`, once for every evaluation of the plan."""
    if not plan.measurements:
        return ()
    if "compared" not in detail.memo:
        detail.memo["compared"] = tuple(compared(plan))
    found: tuple[Compared, ...] = detail.memo["compared"]
    return found


def compared(plan: Plan) -> Iterator[Compared]:
    """Every figure of every measurement of a bound plan, its own calibration applied."""
    known: dict[int, Evaluation] = {}
    for point in points_of(plan, plan.measurements):
        if point.plan is None:
            yield Compared(point)
            continue
        key = id(point.plan)
        if key not in known and len(known) < MOST_RUNS:
            known[key] = evaluation.evaluate(replace(point.plan, calibration=plan.calibration), simulate=True)
        found = known.get(key)
        fault = ceiling.judged(replace(point, rejected="")).rejected
        value = value_of(point.observation, found.latency, found.throughput) if found is not None else None
        if found is None or value is None or fault:
            yield Compared(replace(point, rejected=fault or "no figure to compare with", plan=None))
            continue
        low, high = _band(point.observation.figure, found.bands)
        yield Compared(point, value, value * low, value * high)


def _band(figure: str, bands: Bands) -> tuple[float, float]:
    if figure in RATES:
        return bands.throughput
    return {
        "time_to_first_token": bands.first_token,
        "prefill": bands.prompt,
        "request_latency": bands.request,
    }.get(figure, bands.latency)
