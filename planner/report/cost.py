"""Cost and energy: at the declared load and at saturation, against a service, with inputs and formulas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.domain.cost import BreakEven, Power, Saturation
from planner.domain.evaluation import Evaluation
from planner.domain.plan import Plan
from planner.format import Dimension, band, count, percent, quantity, significant
from planner.report.analysis_types import ProvenanceRow
from planner.report.report_model import Cell, Column, CostSection, FormulaDetail, Labelled, Row, Table, bracketed
from planner.report.text import first_rows

Band = tuple[float, float]
EXACT: Band = (1.0, 1.0)
_SPLIT = (
    "All amounts are in USD, idle time included: hardware is billed whether or not it serves. The split between input "
    "and output tokens is by engine time: input tokens carry the prefill's share, output tokens the rest. At "
    "saturation every seat is taken all of the time, a lower bound that no declared load has."
)
_UNKNOWN = (
    "Neither cost nor energy can be computed: declare hardware.price, and the power of the accelerator, such as "
    "{memory: 80 GB, bandwidth: 2 TB/s, power: 400 W}."
)
_POWER = (
    "Accelerators and declared hosts; what the constants of power rest on is in planner's "
    "docs/decisions/0034-cost-and-energy.md."
)


@dataclass(frozen=True, slots=True)
class _Line:
    """now: at the declared load, full: at saturation (None: the same has no meaning there). word: where from."""

    title: str
    dimension: Dimension
    now: float | None
    full: float | None = None
    band: Band = EXACT
    full_band: Band = EXACT
    word: str = "formula"


def section(plan: Plan, shipped: Evaluation, rows: Sequence[ProvenanceRow]) -> CostSection:
    cost = shipped.cost
    if cost.usd_per_hour is None and cost.power is None:
        return CostSection(_UNKNOWN, None, None, "", "", None, ())
    word = shipped.bands.word
    measured = "prior" if word == "floor" else word  # the ideal engine's speed is a floor, its power is not
    costs = _table("Cost", [*_costs(plan, shipped)], word) if cost.usd_per_hour is not None else None
    energy = _table("Power and energy", [*_energy(plan, shipped)], measured) if cost.power is not None else None
    inputs, formulas = _inputs(rows), tuple(_formula(row) for row in first_rows(rows)[0] if row.formula)
    return CostSection(_SPLIT, costs, energy, _POWER if energy else "", _even(plan, cost.break_even), inputs, formulas)


def _costs(plan: Plan, shipped: Evaluation) -> Iterator[_Line]:
    cost, bands = shipped.cost, shipped.bands
    full = cost.saturation or Saturation(0.0, 0.0)
    speed = (1.0 / bands.throughput[1], 1.0 / bands.throughput[0])
    replicas = plan.hardware.replicas
    yield _Line("An hour", "usd/hour", cost.usd_per_hour, band=bands.hourly)
    if cost.electricity_usd_per_hour is not None:
        yield _Line("of it, electricity", "usd/hour", cost.electricity_usd_per_hour, band=bands.power)
    if replicas.maximum > replicas.minimum:
        most = f"An hour with all {replicas.maximum} replicas"
        yield _Line(most, "usd/hour", cost.usd_per_hour_most)
    yield _Line("A month of 730 hours", "usd/month", cost.usd_per_month, band=bands.hourly)
    if cost.usd_total is not None:
        yield _Line("The finite run", "usd", cost.usd_total, band=bands.cost)
    per: tuple[tuple[str, float | None, float | None], ...] = (
        ("A request", cost.usd_per_request, full.usd_per_request),
        ("A session", cost.usd_per_session, None),
        (
            "A million output tokens, all of the cost on them",
            cost.usd_per_million_output_tokens,
            full.usd_per_million_output_tokens,
        ),
        ("A million tokens of both kinds", cost.usd_per_million_tokens, full.usd_per_million_tokens),
        (
            "A million input tokens, by engine time",
            cost.split_usd_per_million_input_tokens,
            full.split_usd_per_million_input_tokens,
        ),
        (
            "A million output tokens, by engine time",
            cost.split_usd_per_million_output_tokens,
            full.split_usd_per_million_output_tokens,
        ),
    )
    for title, now, then in per:
        if now is not None or then is not None:
            yield _Line(title, "usd", now, then, bands.cost, speed)
    if cost.prefill_share is not None:
        yield _Line("Prefill's share of engine time", "share", cost.prefill_share, full.prefill_share or None)
    if cost.utilisation is not None:
        yield _Line("Load, of what the hardware serves", "share", cost.utilisation, 1.0)


def _energy(plan: Plan, shipped: Evaluation) -> Iterator[_Line]:
    cost, bands = shipped.cost, shipped.bands
    power, full = cost.power, cost.saturation or Saturation(0.0, 0.0)
    if power is None:
        return
    yield from _accelerator(plan, power)
    yield _Line("Time in which steps run", "share", power.busy, 1.0)
    yield _Line("The deployment, mean", "watts", cost.watts, full.watts, bands.power)
    if cost.watts is not None and power.facility_watts != cost.watts:
        yield _Line("The same with cooling", "watts", power.facility_watts, band=bands.power)
    yield _Line("The deployment, every replica in its hungrier phase", "watts", power.peak_watts)
    yield _Line("The deployment, every accelerator at its limit", "watts", power.limit_watts)
    token, speed = "Energy of an output token", (1.0 / bands.throughput[1], 1.0 / bands.throughput[0])
    now, then = cost.joules_per_output_token, full.joules_per_output_token
    yield _Line(token, "joules", now, then, bands.energy, _product(bands.power, speed))
    yield _Line("Energy of a request", "joules", cost.joules_per_request, band=bands.energy)


def _accelerator(plan: Plan, power: Power) -> Iterator[_Line]:
    decode, prefill = power.accelerator_decode_watts, power.accelerator_prefill_watts
    limit = power.accelerator_limit_watts
    yield _Line("One accelerator, idle", "watts", power.accelerator_idle_watts)
    yield _Line("One accelerator, decode", "watts", decode, band=_capped(decode, power.band, limit))
    if prefill is not None:
        yield _Line("One accelerator, prefill", "watts", prefill, band=_capped(prefill, power.band, limit))
    rated = plan.hardware.power.limit_w is None and plan.hardware.accelerator.catalogue_id is not None
    yield _Line("One accelerator, its limit", "watts", limit, word="catalogue" if rated else "declared")


def _capped(value: float, ends: Band, limit: float) -> Band:
    return ends[0], min(value * ends[1], max(limit, value)) / value


def _product(first: Band, second: Band) -> Band:
    return first[0] * second[0], first[1] * second[1]


def _table(caption: str, lines: Sequence[_Line], word: str) -> Table:
    heads = (Column("Figure"), Column("At the declared load", True), Column("At saturation", True), Column("From"))
    return Table(caption, heads, tuple(_row(line, word) for line in lines))


def _row(line: _Line, word: str) -> Row:
    return Row(
        (
            Cell(line.title),
            _cell(line.now, line.dimension, line.band, word),
            _cell(line.full, line.dimension, line.full_band, word) if line.full is not None else Cell(""),
            Cell(line.word),
        )
    )


def _cell(value: float | None, dimension: Dimension, ends: Band, word: str) -> Cell:
    if value is None:
        return Cell("n/a")
    return bracketed(band(value, value * ends[0], value * ends[1], word, dimension), value)


def _even(plan: Plan, even: BreakEven | None) -> str:
    """What the comparison with a service comes to, in sentences."""
    if even is None or plan.api_price is None:
        return ""
    price = plan.api_price
    name = f"{price.name} of {price.date}" if price.name else f"of {price.date}"
    told = (
        f"Against the service's price ({name}) hosting pays from {significant(even.tokens_per_month / 1e6)} million "
        f"tokens a month on, {count(even.requests_per_month, 'requests')}"
    )
    if even.utilisation is not None:
        share = percent(even.utilisation)
        told += f", {share} of what the hardware serves" + (": never" if even.utilisation > 1 else "")
    if even.api_usd_per_month is None or even.cheaper is None:
        return f"{told}."
    there, here = quantity(even.api_usd_per_month, "usd/month"), quantity(even.usd_per_month, "usd/month")
    return f"{told}. The declared load costs {there} there and {here} here: {even.cheaper} is cheaper."


def _inputs(rows: Sequence[ProvenanceRow]) -> Table | None:
    kept, omitted = first_rows([row for row in rows if not row.formula])
    if not kept:
        return None
    heads = (Column("Input"), Column("Value", True), Column("From"), Column("Source and date"))
    return Table("Inputs of cost and energy", heads, tuple(map(_input, kept)), omitted)


def _input(row: ProvenanceRow) -> Row:
    number = None if isinstance(row.value, str) else row.value.value
    return Row((Cell(row.figure), Cell(_value(row), number), Cell(row.word), Cell(row.source)))


def _formula(row: ProvenanceRow) -> FormulaDetail:
    return FormulaDetail(row.figure, _value(row), row.formula, tuple(Labelled(*pair) for pair in row.inputs))


def _value(row: ProvenanceRow) -> str:
    return row.value if isinstance(row.value, str) else quantity(row.value.value, row.value.dimension)
