"""A point in words: its run, and values with the units that a Measurement document takes."""

from __future__ import annotations

from planner.calibration.points import Point
from planner.domain.measurement import RATES
from planner.format import significant


def run_text(point: Point) -> str:
    """Load and lengths of a run."""
    load, run = point.run.load, point.run
    what = {
        "concurrency": f"concurrency {load.concurrency or 0:g}",
        "rate": f"{load.rate_per_s or 0:g} request/s, {load.process}",
        "offline": "offline",
    }[load.kind]
    requests = f", {load.requests} requests" if load.requests else ""
    size = f", tensor parallel {point.plan.engine.tensor_parallel_size}" if point.plan is not None else ""
    return f"{what}{requests}, {run.prompt_tokens:g} + {run.output_tokens:g} tokens{size}"


def value_text(point: Point, value: float) -> str:
    """With the unit that a Measurement document takes."""
    figure = point.observation.figure
    if figure in RATES:
        noun = "request" if figure.startswith("requests") else "token"
        return f"{significant(value, 4).replace(',', '')} {noun}/s"
    return f"{significant(value * 1e3, 4).replace(',', '')} ms"
