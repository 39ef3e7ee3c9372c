"""Where the regime turns, and the measurement that decides most objectives."""

from __future__ import annotations

from collections.abc import Sequence

from planner.format import band, count, quantity
from planner.report.analysis_types import DecidingMeasurement, TurningPoint
from planner.report.flips import with_reason
from planner.report.report_model import Cell, Column, DecidingSection, Labelled, RegimeSection, Row, Table
from planner.report.text import first_rows


def section(points: Sequence[TurningPoint]) -> RegimeSection:
    if not points:
        return RegimeSection("No turning point can be computed from what the spec declares.", None, ())
    heads = (Column("Where it turns"), Column("Turns at", True), Column("Present", True), Column("So at present"))
    kept, omitted = first_rows([_turn(point) for point in points])
    formulas = tuple(Labelled(point.question, point.formula) for point in points[: len(kept)] if point.formula)
    table = Table("Turning points", heads, kept, omitted)
    return RegimeSection("On either side of these values another limit binds, and other levers help.", table, formulas)


def beyond(value: float | None, limit: float | None, key: str) -> str:
    """ "beyond the limit of 8,192, max_model_len" where `value` is out of reach, else ""."""
    if value is None or limit is None or value <= limit:
        return ""
    return f"beyond the limit of {count(limit)}, {key}"


def _turn(point: TurningPoint) -> Row:
    at = point.at.value
    turns = quantity(at, point.at.dimension) if at is not None else "never" if point.reason else "n/a"
    note = beyond(at, point.limit, point.limit_key)
    return Row(
        (
            Cell(point.question),
            Cell(turns, at, note),
            Cell(quantity(point.present.value, point.present.dimension), point.present.value),
            Cell(with_reason(point.here, point.reason) if point.here else point.reason or "n/a"),
        )
    )


def deciding(found: DecidingMeasurement | None, reason: str) -> DecidingSection:
    if found is None:
        return DecidingSection(
            reason or "No objective lies inside a band, so no one measurement decides.", "", "", (), ""
        )
    sentence = f"Measure {found.figure}: its band decides {_share_of(len(found.decides), found.open_objectives)}."
    estimate = found.estimate
    text = band(estimate.value, found.low, found.high, found.word, estimate.dimension)
    return DecidingSection(sentence, found.figure, text, found.decides, found.measure)


def _share_of(decided: int, open_ones: int) -> str:
    if open_ones == 1:
        return "the one objective that is open"
    if decided == open_ones:
        return f"all {open_ones} objectives that are open"
    return f"{decided} of the {open_ones} objectives that are open"
