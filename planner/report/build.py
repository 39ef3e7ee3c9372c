"""Plan, result, findings, verdict and analysis -> ReportModel. Pure: the same input gives the same model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from planner.domain.evaluation import Bands, Evaluation, PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Verdict
from planner.format import NOT_AVAILABLE, Dimension, change, factor, quantity
from planner.report import (
    binding,
    cost,
    finding_rows,
    ladder,
    margins,
    memory_account,
    memory_picture,
    provenance,
    regime,
    replicas,
    under_load,
    verdict_section,
)
from planner.report.analysis_types import Analysis
from planner.report.figures import Figure, banded, figures, relative
from planner.report.report_model import BaselineSection, Cell, Column, MemorySection, ReportModel, Row, Table, bracketed
from planner.report.text import project_path
from planner.source.document import Document

_FLOOR = (
    "The engine ideal gives floors: nothing but bytes and arithmetic is charged, "
    "so a real system takes at least this long."
)

_UNKNOWN = "n/a: what the spec declares does not allow the figure; a finding says what to declare."


def build(
    document: Document,
    plan: Plan | None,
    result: PlanResult | None,
    findings: Sequence[Finding],
    verdict: Verdict,
    analysis: Analysis | None,
) -> ReportModel:
    """The report of one spec. plan, result and analysis are None for an invalid one: verdict and findings remain."""
    name = plan.name if plan is not None else _declared_name(document)
    opening = verdict_section.section(name, plan, result, findings, verdict, analysis)
    found = finding_rows.section(document, findings)
    spec = project_path(document, document.file)
    if plan is None or result is None:
        return ReportModel(name, "", spec, opening, found)
    known = analysis if analysis is not None else Analysis()
    return ReportModel(
        name=name,
        description=plan.description,
        spec=spec,
        verdict=opening,
        binding=binding.section(result.shipped),
        baseline=_baseline(plan, result),
        memory=_memory(plan, result, known),
        load=under_load.section(plan, result.shipped.bands, known.under_load),
        replicas=replicas.section(plan, result),
        ladder=ladder.section(plan, result),
        obligations=ladder.obligations(result),
        regime=regime.section(known.turning_points),
        cost=cost.section(plan, result.shipped, known.cost),
        margins=margins.section(plan, result.shipped, known),
        deciding=regime.deciding(known.deciding, known.deciding_reason),
        provenance=provenance.section(plan, known),
        verification=provenance.verification(known.verification),
        findings=found,
    )


def _memory(plan: Plan, result: PlanResult, known: Analysis) -> MemorySection | None:
    """The picture of every configuration, and the account of what ships."""
    picture = memory_picture.section(known.memory or memory_picture.rows_of(result))
    if picture is None:
        return None
    return replace(picture, account=memory_account.table(plan, result), fraction=known.fraction)


def _declared_name(document: Document) -> str:
    metadata = document.data.get("metadata")
    declared = metadata.get("name") if isinstance(metadata, dict) else None
    return declared if isinstance(declared, str) and declared else PurePath(document.file).stem


def _baseline(plan: Plan, result: PlanResult) -> BaselineSection:
    floor = _FLOOR if plan.engine.name == "ideal" else ""
    heads = (Column("Figure"), Column("Baseline", True), Column("Shipped", True), Column("Change", True))
    rows = [_compared(figure, result) for figure in figures(plan, result.shipped)]
    rows += _largest(plan, result)
    table = Table("Baseline and what ships", heads, tuple(rows))
    unknown = any(cell.text == NOT_AVAILABLE for row in rows for cell in row.cells)
    notes = (*result.notes, _UNKNOWN) if unknown else result.notes
    return BaselineSection(floor, table, _bands(result.shipped.bands), notes)


def _compared(figure: Figure, result: PlanResult) -> Row:
    before, after = figure.read(result.baseline), figure.read(result.shipped)
    moved = relative(before, after)
    return Row(
        (
            Cell(figure.title),
            _cell(figure, result.baseline),
            _cell(figure, result.shipped),
            Cell(change(moved), moved, tone=figure.tone(moved)),
        )
    )


def _cell(figure: Figure, evaluation: Evaluation) -> Cell:
    return bracketed(banded(figure, evaluation), figure.read(evaluation))


def _largest(plan: Plan, result: PlanResult) -> list[Row]:
    """What would still fit; whatever is more than the engine admits says so."""
    settings = result.detail.plan.engine if result.detail is not None else plan.engine
    ranks = max(1, plan.hardware.replicas.minimum) * settings.data_parallel_size
    seats = settings.max_num_seqs * ranks if settings.max_num_seqs else None
    rows = [
        _most(
            "Largest concurrency that fits, all replicas",
            "sequences",
            (result.baseline_concurrency, result.largest_concurrency),
            (seats, "max_num_seqs" if ranks == 1 else f"max_num_seqs x {ranks}"),
        ),
        _most(
            "Largest context that fits at the declared load",
            "tokens",
            (result.baseline_context, result.largest_context),
            (settings.max_model_len, "max_model_len"),
        ),
    ]
    return [row for row in rows if row.cells[2].number is not None]


def _most(
    title: str, dimension: Dimension, values: tuple[float | None, float | None], limit: tuple[float | None, str]
) -> Row:
    baseline, shipped = (Cell(quantity(value, dimension), value, regime.beyond(value, *limit)) for value in values)
    moved = relative(*values)
    tone = "" if not moved else "good" if moved > 0 else "bad"
    return Row((Cell(title), baseline, shipped, Cell(change(moved), moved, tone=tone)))


def _bands(bands: Bands) -> str:
    named = (
        ("steps", bands.latency),
        ("prompts", bands.prompt),
        ("time to first token", bands.first_token),
        ("requests", bands.request),
        ("throughput", bands.throughput),
        ("memory", bands.memory),
    )
    wide = [f"{name} {factor(low)} to {factor(high)}" for name, (low, high) in named if low != high]
    if not wide:
        return ""
    prior = " A prior band is the planner's own, before anything was measured here." if bands.word == "prior" else ""
    return f"Bands ({bands.word}): {', '.join(wide)} of the estimate.{prior}"
