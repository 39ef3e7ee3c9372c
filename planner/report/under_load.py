"""The deployment under arrivals: how the load stands to what it takes, charts, and the same as tables."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.evaluation import Bands
from planner.domain.plan import Plan
from planner.format import NOT_AVAILABLE, count, duration, factor, percent, rate, significant
from planner.report.analysis_types import LoadInterval, UnderLoad
from planner.report.load_charts import CURVES, charts, number, quantile_of
from planner.report.report_model import Cell, Column, LoadSection, Row, Table

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
MOST_ROWS = 12
GAP_SHORT = {"inter_token_latency": "ITL", "time_per_output_token": "TPOT"}


def section(plan: Plan, bands: Bands, found: UnderLoad | None) -> LoadSection | None:
    """None where nothing arrives by itself."""
    if found is None:
        return None
    return LoadSection(
        sentence=_sentence(found),
        notes=_notes(found, bands),
        charts=charts(plan, found),
        rates=_rates(plan, found),
        over_time=_over_time(found.series),
        distribution=_distribution(found) if found.first_tokens else None,
    )


def _sentence(found: UnderLoad) -> str:
    """How the offered load stands to what the deployment takes."""
    offered = rate(found.arrivals_per_s, found.noun)
    if found.capacity_per_s is None:
        return f"{offered} arrive."
    share = percent(found.arrivals_per_s / found.capacity_per_s)
    capacity = rate(found.capacity_per_s, found.noun)
    if found.overloaded:
        return (
            f"{offered} arrive and {capacity} can be served, so the queue grows without bound and no latency is given."
        )
    if found.limited:
        rejected = next(point.rejected for point in found.points if point.arrivals_per_s == found.arrivals_per_s)
        turned = f"the queue turns {percent(rejected)} away" if rejected else "the queue turns nothing away"
        return f"{offered} arrive, {share} of the {capacity} that can be served; {turned}."
    return f"{offered} arrive, {share} of the {capacity} at which the queue would grow without bound."


def _notes(found: UnderLoad, bands: Bands) -> tuple[str, ...]:
    notes = [
        f"Every rate is a run through the event simulation, the offered one of {count(found.requests)} requests.",
    ]
    wide = [
        f"{name} {factor(low)} to {factor(high)}"
        for name, (low, high) in (("time to first token", bands.first_token), ("time between tokens", bands.latency))
        if low != high
    ]
    if wide and not found.overloaded:
        notes.append(f"Lines are estimates. Their bands ({bands.word}): {', '.join(wide)} of them.")
    if found.holds_per_s:
        broken = ", ".join(found.breaks)
        notes.insert(0, f"Every objective holds up to {rate(found.holds_per_s, found.noun)}; above it breaks {broken}.")
    elif found.holds_per_s is not None:
        notes.insert(0, f"No rate holds every objective: {', '.join(found.breaks)} is missed at the lowest.")
    return tuple(notes)


# ------------------------------------------------------------------ the same as tables


def _rates(plan: Plan, found: UnderLoad) -> Table:
    """A row a rate; the offered one stands out."""
    gap = GAP_SHORT[found.gap_metric]
    heads = (
        Column(f"{found.noun}/s that arrive", True),
        *(Column(f"TTFT {name}", True) for name in CURVES),
        *(Column(f"{gap} {name}", True) for name in CURVES),
        Column("Within the limits", True),
        Column("Rejected", True),
        Column("Waiting", True),
    )
    rows = []
    for point in found.points:
        offered = point.arrivals_per_s == found.arrivals_per_s
        grows = not point.first_token
        cells = [Cell(significant(point.arrivals_per_s), point.arrivals_per_s, "offered" if offered else "")]
        cells += [_time(point.first_token.get(name)) for name in CURVES]
        cells += [_time(point.gap.get(name)) for name in CURVES]
        kept = point.kept_per_s / point.served_per_s * (1.0 - point.rejected) if point.served_per_s else 0.0
        cells.append(Cell(NOT_AVAILABLE if grows or not plan.objectives.limits else percent(kept)))
        cells.append(Cell(percent(point.rejected), point.rejected))
        cells.append(Cell("grows" if grows else number(point.queue), None if grows else point.queue))
        rows.append(Row(tuple(cells), "binding" if offered else ""))
    return Table("By rate", heads, tuple(rows))


def _time(value: float | None) -> Cell:
    return Cell(duration(value), value)


def _over_time(series: Sequence[LoadInterval]) -> Table:
    """A dozen rows: intervals taken together."""
    size = -(-len(series) // MOST_ROWS)
    heads = (
        Column("From", True),
        Column("To", True),
        Column("Waiting", True),
        Column("Running", True),
        Column("Rejected", True),
    )
    rows = []
    for start in range(0, len(series), size):
        part = series[start : start + size]
        span = part[-1].end_s - part[0].begin_s or 1.0
        queue = sum(item.queue * (item.end_s - item.begin_s) for item in part) / span
        running = sum(item.running * (item.end_s - item.begin_s) for item in part) / span
        rows.append(
            Row(
                (
                    _time(part[0].begin_s),
                    _time(part[-1].end_s),
                    Cell(number(queue), queue),
                    Cell(number(running), running),
                    Cell(count(sum(item.rejected for item in part))),
                )
            )
        )
    return Table("Over time", heads, tuple(rows))


def _distribution(found: UnderLoad) -> Table:
    heads = (Column("Requests"), Column("First token by", True))
    rows = [
        Row((Cell("all" if level == 1.0 else percent(level)), _time(quantile_of(found.first_tokens, level))))
        for level in LEVELS
    ]
    return Table("Distribution of the time to first token", heads, tuple(rows))
