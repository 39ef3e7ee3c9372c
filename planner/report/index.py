"""The index over all deployments, for whoever owns the capacity: accelerators by kind, cost, power, verdicts.

One line a deployment and one a kind of accelerator, so that a change of one spec changes few lines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Verdict
from planner.format import Dimension, percent, quantity
from planner.report.deployment import card_name
from planner.report.report_model import Cell, Column, Row, Table

TONES = {
    Verdict.FEASIBLE: "good",
    Verdict.AT_RISK: "warn",
    Verdict.UNPROVEN: "warn",
    Verdict.INFEASIBLE: "bad",
    Verdict.INVALID: "bad",
}
NO_GROWTH = "no growth is declared"
NOT_LOOKED_FOR = "not computed for this load"


@dataclass(frozen=True, slots=True)
class Entry:
    """One deployment. spec: its file. plan and result are None where it is invalid; it then has no report."""

    name: str
    spec: str
    verdict: Verdict
    plan: Plan | None = None
    result: PlanResult | None = None


@dataclass(frozen=True, slots=True)
class IndexModel:
    """Everything that both formats print. suffix of a report's file is each format's own."""

    sentence: str
    deployments: Table
    accelerators: Table | None
    notes: tuple[str, ...]


@dataclass(slots=True)
class Kind:
    """Accelerators of one kind over all deployments. running: at the declared loads.

    unpriced, unpowered: those of unknown price or power.
    """

    name: str
    running: int = 0
    most: int = 0
    spares: int = 0
    usd_per_month: float = 0.0
    watts: float = 0.0
    peak_watts: float = 0.0
    unpriced: int = 0
    unpowered: int = 0


def build(entries: Iterable[Entry], suffix: str) -> IndexModel:
    """suffix: of the reports that the index links to, `md` or `html`."""
    ordered = sorted(entries, key=lambda entry: (entry.name, entry.spec))
    kinds = kinds_of(ordered)
    return IndexModel(
        _sentence(ordered),
        _deployments(ordered, suffix),
        _accelerators(kinds) if kinds else None,
        tuple(_notes(kinds, any(map(_record, ordered)))),
    )


def kinds_of(entries: Sequence[Entry]) -> list[Kind]:
    """By name. A deployment of unlike cards has its cost and power shared out by their number.

    Those that are infeasible and expected to be record why something was not done: they are left out.
    """
    found: dict[str, Kind] = {}
    for entry in entries:
        if entry.plan is not None and entry.result is not None and not _record(entry):
            _add(found, entry.plan, entry.result)
    return [found[name] for name in sorted(found)]


def _record(entry: Entry) -> bool:
    """Whether the spec is kept to say why something was not done."""
    return entry.plan is not None and entry.verdict is Verdict.INFEASIBLE and entry.plan.expect == "infeasible"


def _add(found: dict[str, Kind], plan: Plan, result: PlanResult) -> None:
    hardware, cost = plan.hardware, result.shipped.cost
    replicas = _paid(plan, result)
    for name, number in Counter(card_name(card) for card in hardware.cards).items():
        kind, share = found.setdefault(name, Kind(name)), number / hardware.count
        spares = hardware.spares if name == card_name(hardware.accelerator) else 0
        kind.running += number * replicas
        kind.most += number * max(1, hardware.replicas.maximum)
        kind.spares += spares
        counted = number * replicas + spares
        if cost.usd_per_month is None:
            kind.unpriced += counted
        else:
            kind.usd_per_month += share * cost.usd_per_month
        if cost.power is None or cost.watts is None:
            kind.unpowered += counted
        else:
            kind.watts += share * cost.watts
            kind.peak_watts += share * cost.power.peak_watts


def _paid(plan: Plan, result: PlanResult) -> int:
    """Replicas that the declared load takes: those that are paid for."""
    settled = result.detail.paid if result.detail is not None else plan
    return max(1, settled.hardware.replicas.minimum)


def _sentence(entries: Sequence[Entry]) -> str:
    counts = Counter(entry.verdict for entry in entries)
    told = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    number = "1 deployment" if len(entries) == 1 else f"{len(entries)} deployments"
    return f"{number}: {told}."


def _deployments(entries: Sequence[Entry], suffix: str) -> Table:
    titles = (
        "Deployment", "Verdict", "Accelerators", "Spares", "Load, of what it serves", "Cost a month", "Power, mean",
        "Power, most", "Runs out", "Owner",
    )  # fmt: skip
    text = ("Deployment", "Verdict", "Accelerators", "Runs out", "Owner")
    heads = tuple(Column(title, title not in text) for title in titles)
    return Table("Deployments", heads, tuple(_deployment(entry, suffix) for entry in entries))


def _deployment(entry: Entry, suffix: str) -> Row:
    plan, result = entry.plan, entry.result
    if plan is None or result is None:
        empty = tuple(Cell("") for _ in range(8))
        return Row((Cell(f"{entry.name} ({entry.spec})"), Cell(entry.verdict.value, tone="bad"), *empty))
    cost = result.shipped.cost
    expected = ", as expected" if plan.expect == entry.verdict.value else ""
    return Row(
        (
            Cell(entry.name, link=f"{entry.name}.{suffix}"),
            Cell(f"{entry.verdict.value}{expected}", tone="" if expected else TONES[entry.verdict]),
            Cell(_accelerators_of(plan)),
            Cell(str(plan.hardware.spares), plan.hardware.spares),
            Cell("n/a" if cost.utilisation is None else percent(cost.utilisation), cost.utilisation),
            _cell(cost.usd_per_month, "usd/month"),
            _cell(cost.watts, "watts"),
            _cell(cost.power.peak_watts if cost.power else None, "watts"),
            Cell(_runs_out(plan, result)),
            Cell(plan.owner),
        )
    )


def _accelerators_of(plan: Plan) -> str:
    """ "2 x 4 x H100 SXM5 80GB"; "1 to 3 x ..." where replicas scale."""
    replicas = plan.hardware.replicas
    cards = Counter(card_name(card) for card in plan.hardware.cards)
    each = " + ".join(f"{number} x {name}" for name, number in cards.items())
    if replicas.minimum != replicas.maximum:
        return f"{replicas.minimum} to {replicas.maximum} x {each}"
    return each if replicas.minimum == 1 else f"{replicas.minimum} x {each}"


def _runs_out(plan: Plan, result: PlanResult) -> str:
    """The month from which it no longer holds under its declared growth, and why; or why there is none."""
    found = result.runs_out
    if found is None:
        return f"n/a: {NO_GROWTH if plan.workload.growth is None else NOT_LOOKED_FOR}"
    if found.month is None:
        return f"n/a: {found.reason}" if found.reason else "n/a"
    return f"{found.month} ({found.reason})" if found.reason else found.month


def _accelerators(kinds: Sequence[Kind]) -> Table:
    titles = (
        "Accelerator", "At the load", "Spares", "In all", "With every replica", "Cost a month", "Power, mean",
        "Power, most",
    )  # fmt: skip
    heads = tuple(Column(title, title != "Accelerator") for title in titles)
    rows = [_kind(kind) for kind in kinds]
    if len(kinds) > 1:
        rows.append(_kind(_total(kinds)))
    return Table("Accelerators by kind", heads, tuple(rows))


def _kind(kind: Kind) -> Row:
    counts = (kind.running, kind.spares, kind.running + kind.spares, kind.most + kind.spares)
    known, powered = kind.running + kind.spares - kind.unpriced, kind.running + kind.spares - kind.unpowered
    return Row(
        (
            Cell(kind.name),
            *(Cell(f"{number:,}", number) for number in counts),
            _sum(kind.usd_per_month, "usd/month", known, kind.unpriced),
            _sum(kind.watts, "watts", powered, kind.unpowered),
            _sum(kind.peak_watts, "watts", powered, kind.unpowered),
        )
    )


def _total(kinds: Sequence[Kind]) -> Kind:
    return Kind(
        "All",
        sum(kind.running for kind in kinds),
        sum(kind.most for kind in kinds),
        sum(kind.spares for kind in kinds),
        math.fsum(kind.usd_per_month for kind in kinds),
        math.fsum(kind.watts for kind in kinds),
        math.fsum(kind.peak_watts for kind in kinds),
        sum(kind.unpriced for kind in kinds),
        sum(kind.unpowered for kind in kinds),
    )


def _sum(value: float, dimension: Dimension, known: int, unknown: int) -> Cell:
    """What is known of it, and how many accelerators are not in it."""
    if not known:
        return Cell("n/a")
    return Cell(quantity(value, dimension), value, f"without {unknown:,}" if unknown else "")


def _cell(value: float | None, dimension: Dimension) -> Cell:
    return Cell(quantity(value, dimension), value)


def _notes(kinds: Sequence[Kind], records: bool) -> Iterable[str]:
    yield "Cost is of the replicas that the declared load takes, and of spares. Power is without cooling."
    if any(kind.unpriced or kind.unpowered for kind in kinds):
        yield "Sums leave out accelerators of unknown price or power, as many as the brackets say."
    if records:
        yield "Deployments that are infeasible as expected are not in the sums: they record why something was not done."
