"""Findings and waivers as tables. A waiver's expiry date is printed, never whether it has passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from planner.findings import Finding, Severity
from planner.report.report_model import Cell, Column, FindingSection, Row, Table
from planner.report.text import first_rows, where
from planner.source.document import Document

_TONES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: ""}


def section(document: Document, findings: Sequence[Finding]) -> FindingSection:
    """Errors first, each severity in the order in which it was found."""
    order = list(Severity)
    live = sorted((entry for entry in findings if entry.waived is None), key=lambda entry: order.index(entry.severity))
    waived = [entry for entry in findings if entry.waived is not None]
    return FindingSection(_sentence(live, waived), _table(document, live), _waived(document, waived))


def _sentence(live: Sequence[Finding], waived: Sequence[Finding]) -> str:
    if not live and not waived:
        return "There is nothing to say against this spec."
    counted = Counter(entry.severity for entry in live)
    parts = [f"{counted[level]} {level}{'s' if counted[level] > 1 else ''}" for level in Severity if counted[level]]
    if waived:
        parts.append(f"{len(waived)} waived")
    return f"{', '.join(parts)}."


def _table(document: Document, live: Sequence[Finding]) -> Table | None:
    if not live:
        return None
    kept, omitted = first_rows(live)
    rows = tuple(
        Row(
            (
                Cell(entry.severity.value, tone=_TONES[entry.severity]),
                Cell(entry.id),
                Cell(where(document, entry.location, entry.path)),
                Cell(entry.message),
                Cell(entry.hint),
            )
        )
        for entry in kept
    )
    heads = tuple(Column(title) for title in ("Severity", "Finding", "Where", "What", "Way out"))
    return Table("Findings", heads, rows, omitted)


def _waived(document: Document, waived: Sequence[Finding]) -> Table | None:
    if not waived:
        return None
    kept, omitted = first_rows(waived)
    rows = []
    for entry in kept:
        reason, expires = (entry.waived.reason, entry.waived.expires) if entry.waived else ("", "")
        place = where(document, entry.location, entry.path)
        rows.append(Row((Cell(entry.id), Cell(place), Cell(entry.message), Cell(reason), Cell(expires))))
    heads = tuple(Column(title) for title in ("Finding", "Where", "What", "Why it is waived", "Expires"))
    return Table("Waived findings", heads, tuple(rows), omitted)
