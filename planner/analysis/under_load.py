"""The shipped deployment under arrivals: runs at several rates, and what happens over time at the declared one.

Only where requests come by themselves (a rate, a trace). Every rate is run as the declared one is, so that the point
at the declared rate has the figures of the report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from planner import evaluation
from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation import Detail, simulation
from planner.evaluation.capacity import at_rate, known_largest_rate
from planner.evaluation.latency import Served
from planner.evaluation.simulation import Run
from planner.report.analysis_types import LoadInterval, LoadPoint, UnderLoad
from planner.traffic import series as over_time

SHARES = (0.15, 0.3, 0.5, 0.7, 0.8, 0.9, 0.97)
"""Of capacity: rates that are run."""
MULTIPLES = (0.5, 0.75, 1.25, 1.5, 2.0)
"""Of a rate whose capacity is not known, and of a trace."""
BEYOND = (1.15, 1.3)
"""Of capacity, where a queue with a limit turns away what is too much."""
HALVINGS = 2
"""Of the gap between the last rate that is held and the first that is not, where closed forms did not see it."""
INTERVALS = 60
LONGEST_TRACE = 20_000
"""Requests of a trace that is run at several rates."""
CURVE = ("p50", "p95", "p99")


def under_load(detail: Detail) -> UnderLoad | None:
    """Of what ships; None where nothing arrives by itself, nothing fits, or a run would be too long."""
    plan = detail.plan
    load = plan.workload.load
    if load.kind not in ("rate", "trace") or not detail.ledger.memory.fits or not simulation.wanted(plan):
        return None
    declared = _arrivals_per_s(plan)
    found = _run(plan)
    if found is None or declared <= 0.0:
        return None
    run, most = found
    gap = _gap_metric(plan)
    capacity = _capacity(plan)
    points = {declared: _point(plan, run, declared, gap, most)}

    def add(rate: float) -> None:
        other = _at(plan, rate, declared)
        tried = _run(other)
        if tried is not None:
            points[rate] = _point(other, tried[0], rate, gap, tried[1])

    for rate in _rates(plan, declared, capacity, run):
        add(rate)
    for _ in range(HALVINGS if capacity is not None else 0):
        between = _between(points, capacity or 0.0)
        if between is not None:
            add(between)
    # Closed forms do not see everything: no more than the lowest rate whose queue grew; where that is the declared one,
    # no more than what was served of it.
    if capacity is not None:
        capacity = min([capacity, *(rate for rate, point in points.items() if not point.first_token)])
        capacity = capacity if most is None else min(capacity, most / detail.served.service.mix.turns)
    holds, breaks = _holds(plan, detail, capacity)
    return UnderLoad(
        points=tuple(points[rate] for rate in sorted(points)),
        series=_series(plan, run),
        arrivals_per_s=declared,
        capacity_per_s=capacity,
        holds_per_s=holds,
        breaks=breaks,
        gap_metric=gap,
        first_tokens=() if most is not None else tuple(value + _fixed_s(plan) for value in run.outcome.first_tokens),
        requests=run.outcome.requests + run.outcome.rejected,
        overloaded=most is not None,
        limited=plan.workload.queue is not None,
        noun="sessions" if _in_sessions(plan) else "requests",
    )


def _holds(plan: Plan, detail: Detail, capacity: float | None) -> tuple[float | None, tuple[str, ...]]:
    """The largest rate at which every objective holds, peak included, no more than capacity; what breaks above it."""
    found = known_largest_rate(detail) if plan.objectives.limits else None
    if found is None:
        return None, ()
    rate = found.requests_per_s * plan.workload.load.peak
    if capacity is not None and plan.workload.queue is None and rate > capacity:
        return capacity, ("capacity",)
    return rate, found.breaks


def _run(plan: Plan) -> tuple[Run, float | None] | None:
    """A run of the plan's load; and the requests a second that are served where its queue grows without bound."""
    made: list[tuple[Plan, Run | None]] = []

    def simulator(running: Plan, ledger: MemoryLedger, served: Served) -> Served:
        made.append((running, simulation.simulate(running, ledger, served)))
        return served

    closed = evaluation.detail(plan, simulator=simulator)
    running, run = made[-1]
    if run is None:
        return None
    most = simulation.served_at_most(running, run)
    if most is None and closed.served.operating.overloaded and plan.workload.queue is None:
        most = closed.evaluation.throughput.max_requests_per_s
    return run, most


def _arrivals_per_s(plan: Plan) -> float:
    """Of the declared load, at its peak."""
    load = plan.workload.load
    if load.kind == "rate":
        return (load.rate_per_s or 0.0) * load.peak
    recording = load.recording
    if recording is None or not recording.duration_s:
        return 0.0
    return (len(recording.arrival_s) - 1) / recording.duration_s * load.scale * load.peak


def _at(plan: Plan, arrivals_per_s: float, declared: float) -> Plan:
    load = plan.workload.load
    if load.kind == "rate":
        return at_rate(plan, arrivals_per_s / load.peak)
    return replace(
        plan, workload=replace(plan.workload, load=replace(load, scale=load.scale * arrivals_per_s / declared))
    )


def _capacity(plan: Plan) -> float | None:
    """Arrivals a second at which the queue grows, in closed form."""
    closed = evaluation.detail(plan)
    most = closed.evaluation.throughput.max_requests_per_s
    if plan.workload.load.kind != "rate" or not most or not math.isfinite(most):
        return None
    return most / closed.served.service.mix.turns


def _rates(plan: Plan, declared: float, capacity: float | None, run: Run) -> list[float]:
    """Rates to run beside the declared one, none within two hundredths of it."""
    load = plan.workload.load
    if load.kind == "trace" and run.outcome.requests + run.outcome.rejected > LONGEST_TRACE:
        return []
    shares = (*SHARES, *BEYOND) if plan.workload.queue is not None else SHARES
    rates = [share * capacity for share in shares] if capacity else [share * declared for share in MULTIPLES]
    return [rate for rate in rates if abs(rate - declared) > 0.02 * declared]


def _between(points: Mapping[float, LoadPoint], capacity: float) -> float | None:
    """Halfway from the last rate that was held to the first below capacity whose queue grew."""
    grew = [rate for rate, point in points.items() if not point.first_token and rate < capacity]
    held = [rate for rate, point in points.items() if point.first_token and grew and rate < min(grew)]
    return (min(grew) + max(held)) / 2.0 if held else None


def _point(plan: Plan, run: Run, arrivals_per_s: float, gap: str, most: float | None) -> LoadPoint:
    """most: requests a second that are served where the queue grows, else None."""
    outcome = run.outcome
    whole = 1.0 / run.share
    kept, looked_at = simulation.kept_of(plan, run)
    gaps = outcome.gap if gap == "inter_token_latency" else outcome.per_token
    # Of sessions, and where the queue grows, what was served; else what comes, less what is turned away.
    grows = most is not None
    served = outcome.requests_per_s * whole if most is None else most
    if not grows and not _in_sessions(plan):
        served = arrivals_per_s * (1.0 - outcome.rejected_fraction)
    return LoadPoint(
        arrivals_per_s=arrivals_per_s,
        first_token={} if grows else _shifted(outcome.first_token, _fixed_s(plan)),
        gap={} if grows else dict(gaps),
        served_per_s=served,
        kept_per_s=served * kept / max(looked_at - outcome.rejected, 1),
        rejected=outcome.rejected_fraction,
        queue=outcome.queue * whole,
    )


def _in_sessions(plan: Plan) -> bool:
    """Whether the rate counts sessions of several turns."""
    return any(item.session and item.session.turns > 1 for item in plan.workload.classes)


def _shifted(found: Mapping[str, float], by: float) -> dict[str, float]:
    return {name: value + by for name, value in found.items()}


def _fixed_s(plan: Plan) -> float:
    return math.fsum(plan.workload.fixed_s.values())


def _gap_metric(plan: Plan) -> str:
    """The one that an objective binds, else time per output token."""
    bound = [item.metric for item in plan.objectives.limits]
    return "inter_token_latency" if "inter_token_latency" in bound else "time_per_output_token"


def _series(plan: Plan, run: Run) -> tuple[LoadInterval, ...]:
    """The run over time, scaled to all engines that serve; of an endless load until its sample stops arriving."""
    load = plan.workload.load
    whole = 1.0 / run.share
    end = over_time.duration_s(run.engines)
    if load.kind == "rate" and load.requests is None:
        end = max(item.arrival_s for engine in run.engines for item in engine.done)
    width = over_time.width_for(end, INTERVALS)
    return tuple(
        LoadInterval(item.begin_s, item.end_s, item.queue * whole, item.running * whole, round(item.rejected * whole))
        for item in over_time.series(run.engines, width)
        if item.end_s <= end or item.begin_s == 0.0
    )
