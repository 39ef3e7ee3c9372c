"""What a calibration contributes to the figures: its factors, and the word beside what they multiply."""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.calibration.comparing import of_detail
from planner.calibration.wording import run_text, value_text
from planner.domain.calibration import SCALARS, Calibration
from planner.domain.plan import Origin, Plan
from planner.evaluation import Detail
from planner.evaluation.calibrated import calibration_of
from planner.report.analysis_types import Assumption, ProvenanceRow

WORDS = {
    "bandwidth": "achieved bandwidth",
    "arithmetic": "achieved arithmetic",
    "layer": "fixed time of a layer's kernels",
    "step": "the engine's own time of a step",
    "collective": "time of collectives",
}


def used(plan: Plan) -> Calibration | None:
    """The calibration that a configured plan's figures rest on."""
    return calibration_of(plan)[0]


def origin(plan: Plan, figure: str, otherwise: Origin) -> Origin:
    """Where a figure of the efficiencies comes from: the calibration that multiplies it, else `otherwise`."""
    known = used(plan)
    if known is None or figure not in known.figures():
        return otherwise
    return Origin("calibrated", source(known))


def source(known: Calibration) -> str:
    return f"{known.file}, measured {known.date}"


def rows(plan: Plan) -> Iterator[ProvenanceRow]:
    """One row a factor, with one standard deviation to both sides."""
    known = used(plan)
    for name in SCALARS if known is not None else ():
        assert known is not None
        factor = known.multipliers.get(name)
        if factor is None:
            continue
        spread = math.exp(known.spreads.get(name, 0.0))
        text = f"x{factor:.3g} (x{factor / spread:.3g} to x{factor * spread:.3g})"
        yield ProvenanceRow(f"Calibration: {WORDS[name]}", text, "calibrated", source(known))


def measured(plan: Plan, detail: Detail) -> Iterator[ProvenanceRow]:
    """What was measured of the deployment beside the estimate of the same load; a bound plan."""
    for item in of_detail(plan, detail):
        point = item.point
        text = value_text(point, point.observation.value)
        if item.estimate is not None:
            text += (
                f" (estimate {value_text(point, item.estimate)}, {point.observation.value / item.estimate - 1:+.0%})"
            )
        name = f"Measured {point.observation.name}, {run_text(point)}"
        source_text = point.source if item.estimate is not None else f"{point.source}: not compared, {point.rejected}"
        yield ProvenanceRow(name, text, "measured", source_text)


def assumptions(plan: Plan) -> Iterator[Assumption]:
    """What the calibration rests on, or why it is not used."""
    known = plan.calibration
    if known is None:
        return
    if known.stale:
        apart = ", ".join(f"{what} {was} (here {now})" for what, was, now in known.stale)
        yield Assumption(f"The calibration is stale and not used: it is of {apart}.", source(known))
    elif known.points:
        yield Assumption(f"Calibrated with {known.points} measured figures of what ships.", source(known))
