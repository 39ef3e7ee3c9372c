"""Which input flips an outcome: one row an input, and one row an objective."""

from __future__ import annotations

from collections.abc import Sequence

from planner.format import change, quantity
from planner.report.analysis_types import Flip, Sensitivity
from planner.report.report_model import OUTCOME_TONES, Cell, Column, Row, Table, TableSection
from planner.report.text import first_rows


def inputs(entries: Sequence[Sensitivity]) -> TableSection:
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
            Cell(what if flips else with_reason(what, entry.reason)),
        )
    )


def objectives(entries: Sequence[Flip]) -> TableSection | None:
    """One row an objective, so that none is missing."""
    if not entries:
        return None
    titles = ("What", "Now", "Flips to", "By changing", "From", "To", "Change")
    heads = tuple(Column(title, title in ("From", "To", "Change")) for title in titles)
    kept, omitted = first_rows([_nearest(entry) for entry in entries])
    sentence = "For memory and each objective: the input whose smallest change, alone, flips it."
    return TableSection(sentence, Table("What flips each objective", heads, kept, omitted))


def _nearest(entry: Flip) -> Row:
    name, now, found = Cell(entry.name), Cell(entry.now, tone=OUTCOME_TONES.get(entry.now, "")), entry.nearest
    if found is None:
        why = Cell("no input, between an eighth and 8 times of its value")
        return Row((name, now, Cell("n/a"), why, Cell("n/a"), Cell("n/a"), Cell("n/a")))
    present, at = found.present, found.flips_at
    return Row(
        (
            name,
            now,
            Cell(found.outcome, tone=OUTCOME_TONES.get(found.outcome, "")),
            Cell(found.input),
            Cell(quantity(present.value, present.dimension), present.value),
            Cell(quantity(at.value, at.dimension), at.value),
            Cell(change(found.change) or "0.0 %", found.change),
        )
    )


def with_reason(text: str, reason: str) -> str:
    return f"{text} ({reason})" if reason else text
