"""A plan and measurements to a calibration: few scalars, with what they rest on. Pure: the same input, the same bytes.

Few points cannot say much. Every scalar has a prior around 1; a point that the others speak against loses its weight;
and where the points that are left are not nearer than before, every scalar stays at 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.calibration import ceiling
from planner.calibration.fit import Fitted, fit
from planner.calibration.points import Point, points_of
from planner.calibration.predicting import NAMES, Predictor
from planner.calibration.prior import prior
from planner.domain.calibration import SCALARS
from planner.domain.measurement import Measurement
from planner.domain.plan import Plan

SETTLINGS = 2
"""Times that the simulation is asked: at the catalogue's figures, and at those that were found."""
OUTLIER = 0.2
"""Weight below which a point is said to disagree with the others: more than four times what is usual."""
STEEP = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """points: every figure that was read. fitted: of those that were used, in the same order; None where none was.

    used: the places of the fitted points. helped: whether the points are nearer with the scalars than without.
    """

    points: tuple[Point, ...]
    used: tuple[int, ...]
    fitted: Fitted | None
    helped: bool

    @property
    def multipliers(self) -> dict[str, float]:
        if self.fitted is None:
            return {}
        return dict(zip(NAMES, map(math.exp, self.fitted.logarithms), strict=True))


def calibrate(plan: Plan, measurements: Sequence[Measurement]) -> Outcome:
    """The scalars that the measurements speak for. plan: bound, levers not yet applied."""
    points = tuple(ceiling.judged(point) for point in points_of(plan, measurements))
    used = tuple(index for index, point in enumerate(points) if not point.rejected)
    predictor = Predictor([points[index] for index in used])
    predictor.settle([0.0] * len(SCALARS))
    without = [index for index, value in zip(used, predictor([0.0] * len(SCALARS)), strict=True) if math.isinf(value)]
    if without:
        why = "the plan says that this load exceeds the capacity: no figure to compare with"
        points = tuple(
            replace(point, rejected=why) if index in without else point for index, point in enumerate(points)
        )
        used = tuple(index for index in used if index not in without)
        predictor = Predictor([points[index] for index in used])
        predictor.settle([0.0] * len(SCALARS))
    if not used:
        return Outcome(points, (), None, helped=False)
    return _fitted(points, used, predictor)


def _fitted(points: tuple[Point, ...], used: tuple[int, ...], predictor: Predictor) -> Outcome:
    chosen = [points[index] for index in used]
    measured = [math.log(point.observation.value) for point in chosen]
    widths = [prior().scalars[name] for name in NAMES]
    start = [0.0] * len(NAMES)
    before = [value - seen for value, seen in zip(predictor(start), measured, strict=True)]
    usual = [point.usual * steep for point, steep in zip(chosen, steepness(predictor), strict=True)]
    found = fit(predictor, measured, usual, widths)
    for _ in range(SETTLINGS - 1):
        predictor.settle(found.logarithms)
        found = fit(predictor, measured, usual, widths)
    found = replace(found, before=tuple(before))
    helped = _helped(found, usual)
    if not helped:
        found = replace(found, logarithms=tuple(start), after=tuple(before))
    return Outcome(points, used, found, helped)


def steepness(predictor: Predictor) -> list[float]:
    """How many times more a figure moves than every time of the engine, where all move together; 1 at least.

    A closed loop's figures move as the times do. Near its capacity an open loop's move far more, and so does what the
    plan gets wrong of it: such a point says no more of the scalars than any other.
    """
    step = 0.02
    ends = [
        predictor([sign * step * (-1.0 if name in ("bandwidth", "arithmetic") else 1.0) for name in NAMES])
        for sign in (-1.0, 1.0)
    ]
    slopes = [abs(above - below) / (2.0 * step) for below, above in zip(*ends, strict=True)]
    return [max(slope, STEEP) if math.isfinite(slope) else 4.0 for slope in slopes]


def _helped(found: Fitted, usual: Sequence[float]) -> bool:
    """Whether the weighted error of the points falls by more than nothing."""
    before, after = (
        math.fsum(w * (r / s) ** 2 for w, r, s in zip(found.weights, residuals, usual, strict=True))
        for residuals in (found.before, found.after)
    )
    return after < before
