"""Runs in which replicas are missing: one fails, all are replaced in turn, or the load rises before more have started.

Each shows whole replicas, and looks at the requests that the event meets.
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation.latency import Served
from planner.evaluation.mix import turns_of
from planner.evaluation.simulation.happening import Happening, Shown
from planner.evaluation.simulation.run import (
    MOST_REQUESTS,
    WARM_UP,
    Run,
    requests_of,
    scaling_of,
    shown_of,
    simulate,
)
from planner.traffic.arrivals import Rise
from planner.traffic.autoscaler import EVERY_S
from planner.traffic.fleet import Fleet, Outage, Rollout

QUIET_S = 60.0
"""Before the load rises."""
GRACE_S = 30.0
"""Kubernetes' own terminationGracePeriodSeconds."""


def failing(whole: Plan, rest: Plan, ledger: MemoryLedger, served: Served) -> Run | None:
    """Replicas of `whole` fail when the run has warmed up, and `rest` go on. None where the load has no rate."""
    load = whole.workload.load
    shown = shown_of(whole)
    if load.kind != "rate" or load.requests is not None or shown.share < 1.0 or turns_of(whole) > 1.0:
        return None
    requests = requests_of(rest, served, 1.0)
    at = requests * WARM_UP / ((load.rate_per_s or 1.0) * load.peak)
    lost = tuple(range(rest.hardware.replicas.minimum, whole.hardware.replicas.minimum))
    happening = Happening(
        outages=(Outage(lost, at),), requests=requests, looked_at=lambda fleet: (_met(fleet, at), math.inf)
    )
    return simulate(whole, ledger, served, happening=happening)


def _met(fleet: Fleet, at: float) -> float:
    """The first arrival of the requests that were not done at a moment."""
    arrivals = (item.arrival_s for engine in fleet.engines for item in engine.done if not item.finished_s <= at)
    return min(arrivals, default=at)


def rolling(plan: Plan, ledger: MemoryLedger, served: Served, at_once: int, away_s: float) -> Run | None:
    """Every replica is replaced while requests come at their mean rate. None where that would be too long a run."""
    load = plan.workload.load
    shown = shown_of(plan)
    if load.kind != "rate" or load.requests is not None or shown.share < 1.0 or turns_of(plan) > 1.0:
        return None
    if served.operating.overloaded:
        return None
    rate = load.rate_per_s or 1.0
    groups = math.ceil(plan.hardware.replicas.minimum / at_once)
    begins = requests_of(plan, served, 1.0) * WARM_UP / rate
    lasts = groups * (away_s + GRACE_S) + away_s
    requests = math.ceil((begins + lasts) * rate)
    if requests > MOST_REQUESTS:
        return None

    def looked_at(fleet: Fleet) -> tuple[float, float]:
        return _met(fleet, begins), fleet.rolled_s if math.isfinite(fleet.rolled_s) else math.inf

    happening = Happening(rollout=Rollout(begins, at_once, away_s, GRACE_S), requests=requests, looked_at=looked_at)
    mean = replace(plan, workload=replace(plan.workload, load=replace(load, peak=1.0)))
    return simulate(mean, ledger, served, happening=happening)


def rising(plan: Plan, before: int, ledger: MemoryLedger, served: Served) -> tuple[Run, float] | None:
    """The load rises to its peak and scaling follows. The run, and how many seconds of it are the rise.

    before: replicas that serve the mean rate. It is looked at from the rise on until what is ordered at its end serves.
    None where that would be too long a run.
    """
    declared, load = plan.hardware.replicas, plan.workload.load
    start = declared.start_time_s
    if start is None or load.kind != "rate" or load.requests is not None or turns_of(plan) > 1.0:
        return None
    shown = shown_of(plan)
    after = 3.0 * (start + EVERY_S) + QUIET_S
    rise = Rise(QUIET_S, load.ramp_s, load.peak)
    each = QUIET_S + load.ramp_s * (1.0 + load.peak) / 2.0 + load.peak * after
    rate = load.rate_per_s or 1.0
    if rate * each * shown.share > MOST_REQUESTS:
        fewer = max(int(shown.replicas * MOST_REQUESTS / (rate * each * shown.share)), 1)
        shown = Shown(fewer, shown.ranks, shown.share * fewer / shown.replicas)
    first = max(round(before * shown.replicas / declared.maximum), 1)
    if shown.replicas < 2 or first == shown.replicas:
        return None
    scaling = replace(scaling_of(plan, served, shown), first=first)
    ends = QUIET_S + load.ramp_s + start + EVERY_S
    happening = Happening(
        scaling=scaling,
        rise=rise,
        requests=math.ceil(rate * each * shown.share),
        looked_at=lambda fleet: (QUIET_S, ends),
        shown=shown,
    )
    run = simulate(plan, ledger, served, happening=happening)
    return None if run is None else (run, ends - QUIET_S)
