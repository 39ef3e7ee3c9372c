"""Margins and sensitivity: how far each objective is from its limit, and which input flips it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.domain.evaluation import Bands, Evaluation, ObjectiveOutcome
from planner.domain.plan import Plan
from planner.format import Dimension, band, change, percent, quantity
from planner.report.analysis_types import Analysis, DecidingMeasurement, Sensitivity, TurningPoint
from planner.report.report_model import (
    Cell,
    Column,
    DecidingSection,
    Labelled,
    MarginSection,
    RegimeSection,
    Row,
    Span,
    Table,
    TableSection,
    bracketed,
)
from planner.report.text import first_rows

_TONES = {"met": "good", "at-risk": "warn", "missed": "bad", "unknown": "warn"}
_DIMENSIONS: dict[str, Dimension] = {
    "goodput": "requests/s",
    "output_tokens_per_second": "tokens/s",
    "output_tokens_per_second_per_user": "tokens/s",
    "cost": "usd/hour",
    "cost_per_million_output_tokens": "usd",
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
    return MarginSection(_objectives(plan, shipped), _sensitivity(analysis.sensitivities))


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
            Cell(entry.outcome, tone=_TONES.get(entry.outcome, "")),
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


def _sensitivity(entries: Sequence[Sensitivity]) -> TableSection:
    if not entries:
        return TableSection("No single input was found that flips an outcome.")
    titles = ("Input", "Present", "Flips at", "Change", "What flips")
    heads = tuple(Column(title, title in ("Present", "Flips at", "Change")) for title in titles)
    kept, omitted = first_rows([_flip(entry) for entry in entries])
    sentence = (
        "Each input is changed alone, all others as declared; the smallest change that flips an outcome is shown."
    )
    return TableSection(sentence, Table("What flips the verdict", heads, kept, omitted))


def _flip(entry: Sensitivity) -> Row:
    flips = entry.flips_at.value is not None
    at = quantity(entry.flips_at.value, entry.flips_at.dimension) if flips else "never"
    what = f"{entry.objective}: {entry.outcome}" if entry.outcome else entry.objective
    return Row(
        (
            Cell(entry.input),
            Cell(quantity(entry.present.value, entry.present.dimension), entry.present.value),
            Cell(at, entry.flips_at.value),
            Cell((change(entry.change) or "0.0 %") if entry.change is not None else "n/a", entry.change),
            Cell(what if flips else _with_reason(what, entry.reason)),
        )
    )


def _with_reason(text: str, reason: str) -> str:
    return f"{text} ({reason})" if reason else text


def regime(points: Sequence[TurningPoint]) -> RegimeSection:
    if not points:
        return RegimeSection("No turning point can be computed from what the spec declares.", None, ())
    heads = (Column("Where it turns"), Column("Turns at", True), Column("Present", True), Column("So at present"))
    kept, omitted = first_rows([_turn(point) for point in points])
    formulas = tuple(Labelled(point.question, point.formula) for point in points[: len(kept)] if point.formula)
    table = Table("Turning points", heads, kept, omitted)
    return RegimeSection("On either side of these values another limit binds, and other levers help.", table, formulas)


def _turn(point: TurningPoint) -> Row:
    at = point.at.value
    turns = quantity(at, point.at.dimension) if at is not None else "never" if point.reason else "n/a"
    return Row(
        (
            Cell(point.question),
            Cell(turns, at),
            Cell(quantity(point.present.value, point.present.dimension), point.present.value),
            Cell(_with_reason(point.here, point.reason) if point.here else point.reason or "n/a"),
        )
    )


def deciding(found: DecidingMeasurement | None, reason: str) -> DecidingSection:
    if found is None:
        return DecidingSection(
            reason or "No objective lies inside a band, so no one measurement decides.", "", "", (), ""
        )
    decided = len(found.decides)
    sentence = (
        f"Measure {found.figure}: its band decides {decided} of the {found.open_objectives} objectives that are open."
    )
    estimate = found.estimate
    text = band(estimate.value, found.low, found.high, found.word, estimate.dimension)
    return DecidingSection(sentence, found.figure, text, found.decides, found.measure)
