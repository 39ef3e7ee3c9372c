"""Figures that no hardware can reach: a fault of the benchmark, not of the plan."""

from __future__ import annotations

from dataclasses import replace

from planner.calibration.points import Point
from planner.domain.measurement import RATES
from planner.domain.plan import Plan
from planner.evaluation.work import work_of

SPARE = 0.98
"""Peaks are printed rounded, and clocks go above the printed ones a little."""


def judged(point: Point) -> Point:
    """The point, rejected where it beats the peak of memory bandwidth or of arithmetic."""
    if point.rejected or point.plan is None:
        return point
    floor = _floor_s(point)
    if floor is None or floor <= 0.0:
        return point
    value = point.observation.value
    seconds = _seconds(point)
    if seconds is None or seconds >= floor * SPARE:
        return point
    text = f"above the physical ceiling: the peaks of the accelerator allow {floor * 1e3:.4g} ms, this says"
    shown = f"{value:,.0f} a second" if point.observation.figure in RATES else f"{value * 1e3:.4g} ms"
    return replace(point, rejected=f"{text} {shown}; a fault of the benchmark")


def _seconds(point: Point) -> float | None:
    """The time that is bounded: of a gap between tokens, of a prompt; None where nothing bounds the figure."""
    figure, value = point.observation.figure, point.observation.value
    if figure in ("inter_token_latency", "time_per_output_token", "prefill", "time_to_first_token"):
        return value
    load = point.run.load
    if figure == "output_tokens_per_second" and load.kind == "concurrency":
        return (load.concurrency or 1.0) / value
    return None


def _floor_s(point: Point) -> float | None:
    """Reading the weights that every token needs at the peak bandwidth; the prompt's products at the peak rate."""
    plan = point.plan
    assert plan is not None
    figure = point.observation.figure
    card = plan.hardware.accelerator
    work = work_of(plan)
    if figure in ("prefill", "time_to_first_token"):
        fastest = max(card.arithmetic_flop_per_s.values(), default=0.0)
        return work.prefill_flop(point.run.prompt_tokens, 0.0) / fastest if fastest else None
    return _step_floor_s(plan) / tokens_per_step(plan)


def _step_floor_s(plan: Plan) -> float:
    """One sequence's step, all stages one after another: a batch reads more."""
    return float(work_of(plan).weight_bytes(1.0) / plan.hardware.accelerator.bandwidth_bytes_per_s)


def tokens_per_step(plan: Plan) -> float:
    speculation = plan.techniques.speculation
    return speculation.tokens_per_step if speculation else 1.0
