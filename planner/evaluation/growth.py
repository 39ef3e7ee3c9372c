"""When a deployment whose load grows no longer holds.

    load(t) = load x (1 + growth)^t        t in months from the day on which the load is as declared

t is bisected on the evaluation, between now and the end of ten years or the load that the seats cannot serve; a load
holds when memory fits, the queue does not grow and no objective that more load can break is missed by its estimate,
with as many replicas lost as the objectives say.
"""

from __future__ import annotations

import calendar
import math
from dataclasses import replace
from datetime import date, timedelta

from planner.domain.evaluation import Evaluation, ObjectiveOutcome, RunsOut
from planner.domain.plan import Plan
from planner.domain.workload import Load
from planner.evaluation import Detail, detail

MONTHS = 120.0
MOST = 1e6
"""Times the load: nothing is looked for beyond."""
ROUNDS = 7
"""Of runs: what is left is a hundredth of the time that was searched."""
BEFORE = 0.05
"""Months before the seats run out: what still holds there holds until they do."""
CLOSED_ROUNDS = 14
"""Of loads with a closed form, which are quick."""
HELPED = (
    "cost_per_million_output_tokens",
    "cost_per_million_tokens",
    "cost_per_request",
    "energy_per_output_token",
    "energy_per_request",
    "output_tokens_per_second",
    "goodput",
)
"""Objectives that more load helps."""
LAST_YEAR = 9999
"""Of the calendar: days beyond are not counted."""
ENDLESS = "a load without end does not grow"


def runs_out(found: Detail) -> RunsOut | None:
    """Of what ships; None where no growth is declared."""
    from planner.evaluation import simulation

    plan, growth = found.plan, found.plan.workload.growth
    if growth is None:
        return None
    if plan.workload.load.kind in ("offline", "period"):
        return RunsOut(None, ENDLESS)
    if not growth.rate_per_month:
        return RunsOut(None, "the load does not grow")
    broken = _broken(found.evaluation, found.served.operating.overloaded) or _broken_at(plan, 1.0, lost_only=True)
    if broken:
        return RunsOut(None, f"does not hold at the declared load: {', '.join(broken)}")
    simulated = simulation.wanted(plan)
    rounds = ROUNDS if simulated else CLOSED_ROUNDS
    last = min(MONTHS, math.log(MOST) / math.log1p(growth.rate_per_month))
    low, high = 0.0, _end(found, growth.rate_per_month)
    breaks: tuple[str, ...] = ("capacity",)
    if high >= last:
        high, breaks = last, _broken_at(plan, _times(growth.rate_per_month, last))
        if not breaks:
            many = "for ten years" if last == MONTHS else f"at {MOST:,.0f} times the load"
            return RunsOut(None, f"holds {many}", _times(growth.rate_per_month, last))
    elif simulated and not _broken_at(plan, _times(growth.rate_per_month, max(high - BEFORE, 0.0))):
        low = max(high - BEFORE, 0.0)
    for _ in range(rounds):
        if simulated and _same_in_print(growth.since, low, high):
            break
        middle = (low + high) / 2.0
        missed = _broken_at(plan, _times(growth.rate_per_month, middle))
        if missed:
            high, breaks = middle, missed
        else:
            low = middle
    return RunsOut(month_after(growth.since, low), ", ".join(breaks), _times(growth.rate_per_month, low))


def _same_in_print(since: str, low: float, high: float) -> bool:
    """Whether low and high print alike: one calendar month, and a few days of it."""
    return high - low <= 2.0 * BEFORE and month_after(since, low) == month_after(since, high)


def _times(rate: float, months: float) -> float:
    return float((1.0 + rate) ** months)


def _end(found: Detail, rate: float) -> float:
    """Months until more comes than can be served; no end where the load waits for its answers."""
    load, most = found.plan.workload.load, found.evaluation.throughput.max_requests_per_s
    offered = (load.rate_per_s or 0.0) * load.peak * found.served.service.mix.turns
    if load.kind != "rate" or not most or not offered:
        return math.inf
    return max(math.log(most / offered) / math.log1p(rate), 0.0)


def grown(plan: Plan, factor: float) -> Plan:
    """The plan under so many times its load; classes with loads of their own grow alike."""
    workload = plan.workload
    classes = tuple(
        item if item.load is None else replace(item, load=_grown(item.load, factor)) for item in workload.classes
    )
    return replace(plan, workload=replace(workload, load=_grown(workload.load, factor), classes=classes))


def _grown(load: Load, factor: float) -> Load:
    return replace(
        load,
        rate_per_s=None if load.rate_per_s is None else load.rate_per_s * factor,
        concurrency=None if load.concurrency is None else load.concurrency * factor,
        sessions=None if load.sessions is None else math.ceil(load.sessions * factor - 1e-9),
        scale=load.scale * factor if load.kind == "trace" else load.scale,
    )


def _broken_at(plan: Plan, factor: float, *, lost_only: bool = False) -> tuple[str, ...]:
    """What no longer holds at so many times the load, with every replica and with those lost that may be."""
    more, down = grown(plan, factor), plan.objectives.replicas_down
    if not lost_only:
        found = detail(more, simulate=True)
        broken = _broken(found.evaluation, found.served.operating.overloaded)
        if broken or not down:
            return broken
    if not down:
        return ()
    found = detail(more)
    pools = {name: pool.replicas for name, pool in found.served.pools.items()} or {"": found.replicas}
    for name, replicas in pools.items():
        if down >= replicas:
            return ("replicas-down",)
        less = detail(more, simulate=True, lost=down, of_pool=name)
        broken = _broken(less.evaluation, less.served.operating.overloaded)
        if broken:
            return tuple(f"{item} with {down} down" for item in broken)
    return ()


def _broken(evaluation: Evaluation, overloaded: bool) -> tuple[str, ...]:
    if not evaluation.memory.fits:
        return ("memory",)
    if overloaded:
        return ("capacity",)
    return tuple(dict.fromkeys(item.objective for item in evaluation.objectives if not _holds(item)))


def _holds(item: ObjectiveOutcome) -> bool:
    """By the estimate, not by its band."""
    if item.objective in HELPED or item.estimate is None:
        return True
    return item.estimate <= item.limit if item.bound == "max" else item.estimate >= item.limit


def month_after(since: str, months: float) -> str:
    """The month, as `2027-05`, that lies so many months after a day; parts of a month count its days."""
    day = date.fromisoformat(since)
    whole = math.floor(months)
    index = day.year * 12 + day.month - 1 + whole
    year, month = index // 12, index % 12 + 1
    if year >= LAST_YEAR:
        return f"{year:04d}-{month:02d}"
    length = calendar.monthrange(year, month)[1]
    at = date(year, month, min(day.day, length)) + timedelta(days=(months - whole) * length)
    return f"{at.year:04d}-{at.month:02d}"
