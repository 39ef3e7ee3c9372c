"""Where every figure comes from: one word beside each, formulas, assumptions with their sources, how to verify."""

from __future__ import annotations

from planner.domain.plan import Plan
from planner.format import quantity
from planner.report.analysis_types import Analysis, Assumption, ProvenanceRow, VerificationStep
from planner.report.report_model import (
    Cell,
    Column,
    FormulaDetail,
    Labelled,
    ProvenanceSection,
    Row,
    Step,
    Table,
    VerificationSection,
    bracketed,
)
from planner.report.text import first_rows

_DIGEST = 12


def section(plan: Plan, analysis: Analysis) -> ProvenanceSection:
    kept, omitted = first_rows(analysis.provenance)
    table = None
    if kept:
        heads = (Column("Figure"), Column("Value", True), Column("From"), Column("Source"))
        table = Table("Where every figure comes from", heads, tuple(_row(row) for row in kept), omitted)
    formulas = tuple(
        FormulaDetail(row.figure, _value(row), row.formula, tuple(Labelled(*pair) for pair in row.inputs))
        for row in kept
        if row.formula
    )
    catalogue = tuple(
        Labelled(name, digest.removeprefix("sha256:")[:_DIGEST]) for name, digest in sorted(plan.catalogue.items())
    )
    return ProvenanceSection(table, formulas, _assumptions(plan, analysis), catalogue)


def _value(row: ProvenanceRow) -> str:
    return row.value if isinstance(row.value, str) else quantity(row.value.value, row.value.dimension)


def _row(row: ProvenanceRow) -> Row:
    number = None if isinstance(row.value, str) else row.value.value
    return Row(
        (
            Cell(row.figure),
            bracketed(_value(row), number) if number is not None else Cell(_value(row)),
            Cell(row.word),
            Cell(row.source),
        )
    )


def _assumptions(plan: Plan, analysis: Analysis) -> Table | None:
    known = {assumption.text for assumption in analysis.assumptions}
    bound = tuple(Assumption(text, "catalogue") for text in plan.assumptions if text not in known)
    kept, omitted = first_rows((*analysis.assumptions, *bound))
    if not kept:
        return None
    rows = tuple(Row((Cell(entry.text), Cell(entry.source))) for entry in kept)
    return Table("Assumptions and their sources", (Column("Assumption"), Column("Source")), rows, omitted)


def verification(steps: tuple[VerificationStep, ...]) -> VerificationSection:
    kept, _ = first_rows(steps)
    return VerificationSection(tuple(Step(step.what, step.command, step.expect) for step in kept))
