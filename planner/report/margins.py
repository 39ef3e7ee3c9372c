"""Margins and sensitivity: how far each objective is from its limit, and which input flips it."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.evaluation import Bands, Evaluation, ObjectiveOutcome
from planner.domain.plan import Plan
from planner.format import Dimension, band, percent, quantity
from planner.report import flips
from planner.report.analysis_types import Analysis
from planner.report.report_model import (
    OUTCOME_TONES,
    Cell,
    Column,
    MarginSection,
    Row,
    Span,
    Table,
    TableSection,
    bracketed,
)
from planner.report.text import first_rows

_DIMENSIONS: dict[str, Dimension] = {
    "goodput": "requests/s",
    "output_tokens_per_second": "tokens/s",
    "output_tokens_per_second_per_user": "tokens/s",
    "cost": "usd/hour",
    "cost_per_million_output_tokens": "usd",
    "cost_per_million_tokens": "usd",
    "cost_per_request": "usd",
    "energy_per_output_token": "joules",
    "energy_per_request": "joules",
    "power": "watts",
    "rejected_requests": "share",
    "memory_headroom": "share",
}


def dimension_of(objective: str, *, finite_run: bool = False) -> Dimension:
    """What an objective's figure measures; everything that is not listed is a latency."""
    metric = objective.partition(".")[0]
    if metric == "cost" and finite_run:
        return "usd"
    return _DIMENSIONS.get(metric, "seconds")


def section(plan: Plan, shipped: Evaluation, analysis: Analysis) -> MarginSection:
    return MarginSection(
        _objectives(plan, shipped), flips.inputs(analysis.sensitivities), flips.objectives(analysis.flips)
    )


def _objectives(plan: Plan, shipped: Evaluation) -> TableSection:
    if not shipped.objectives:
        return TableSection("No objective is declared, so nothing but fitting is judged.")
    finite = plan.workload.load.requests is not None
    rows = [_objective(entry, shipped.bands, finite) for entry in shipped.objectives]
    titles = ("Objective", "Outcome", "Limit", "Estimate", "Margin", "Worst of the band")
    heads = tuple(Column(title, title not in ("Objective", "Outcome")) for title in titles)
    kept, omitted = first_rows(rows)
    sentence = "A margin is the distance to the limit, as a share of it; below zero the limit is broken."
    return TableSection(sentence, Table("Objectives against their limits", heads, kept, omitted))


def _objective(entry: ObjectiveOutcome, bands: Bands, finite: bool) -> Row:
    dimension = dimension_of(entry.objective, finite_run=finite)
    worst = entry.high if entry.bound == "max" else entry.low
    name = f"{entry.objective} ({entry.request_class})" if entry.request_class else entry.objective
    limit = f"{'at most' if entry.bound == 'max' else 'at least'} {quantity(entry.limit, dimension)}"
    estimate = band(entry.estimate, entry.low, entry.high, bands.word, dimension)
    return Row(
        (
            Cell(name),
            Cell(entry.outcome, tone=OUTCOME_TONES.get(entry.outcome, "")),
            Cell(limit, entry.limit),
            replace(bracketed(estimate, entry.estimate), span=_span(entry)),
            _margin(entry, entry.estimate),
            _margin(entry, worst),
        )
    )


def _margin(entry: ObjectiveOutcome, value: float | None) -> Cell:
    if value is None or entry.limit == 0:
        return Cell("n/a")
    margin = (entry.limit - value if entry.bound == "max" else value - entry.limit) / entry.limit
    return Cell(percent(margin), margin, tone="good" if margin >= 0 else "bad")


def _span(entry: ObjectiveOutcome) -> Span | None:
    if entry.estimate is None or entry.low is None or entry.high is None or entry.low < 0:
        return None
    scale = 1.08 * max(entry.high, entry.limit, entry.estimate)
    if scale <= 0 or scale == float("inf"):
        return None
    return Span(entry.low / scale, entry.high / scale, entry.estimate / scale, entry.limit / scale)
