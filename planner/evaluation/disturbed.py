"""What ships while replicas are missing: some are lost, all are replaced in turn, or the load outruns scaling.

Lost and replaced ones are judged by every objective. A rise to the peak is judged from its beginning until what was
ordered at its end serves; when the peak has settled, the shipped figures hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from planner.domain.evaluation import Disturbed, Latency, ObjectiveOutcome, Throughput
from planner.domain.plan import Plan
from planner.evaluation import replicas
from planner.traffic.records import mean, quantiles

if TYPE_CHECKING:
    from planner.evaluation import Detail
    from planner.evaluation.simulation import Run
    from planner.traffic.request import Request

GROUP = 100
"""Arrivals that are looked at together while the load rises: its 95th percentile then rests on five."""
TIMED = ("time_to_first_token", "request_latency", "time_per_output_token", "inter_token_latency")


def disturbances(found: Detail) -> tuple[Disturbed, ...]:
    """Of the shipped plan. What fits nowhere, or is overloaded with every replica, is not looked at."""
    if not found.ledger.memory.fits or not found.plan.workload.classes or found.served.operating.overloaded:
        return ()
    return tuple(_all(found))


def _all(found: Detail) -> Iterator[Disturbed]:
    plan, serving = found.plan, found.running.hardware.replicas.minimum
    down = plan.objectives.replicas_down
    if found.served.pools:
        for name, pool in found.served.pools.items() if down else ():
            yield _without("replicas-down", found, down, pool.replicas, of_pool=name)
        return
    if down:
        yield _without("replicas-down", found, down, serving)
    pods, start = plan.hardware.kubernetes, plan.hardware.replicas.start_time_s
    if pods is not None and start is not None:
        away = serving if pods.strategy == "Recreate" else min(pods.unavailable(serving), serving)
        if away:
            yield _replaced(found, away, start)
    if plan.hardware.replicas.scales and plan.workload.load.peak > 1.0:
        yield from _rising(found)


def _without(
    what: str, found: Detail, lost: int, of: int, lasts_s: float | None = None, of_pool: str = ""
) -> Disturbed:
    """Steady, with so many replicas fewer; where the load has a rate, from the failure on."""
    from planner.evaluation import detail

    pool = of_pool or None
    if lost >= of:
        outcomes = tuple(_missed(item) for item in found.evaluation.objectives if not _of_cost(item))
        return Disturbed(what, 0, of, Latency(), Throughput(), outcomes, lasts_s, pool=pool)
    less = detail(found.plan, simulate=True, lost=lost, of_pool=of_pool).evaluation
    outcomes = tuple(item for item in less.objectives if not _of_cost(item))
    return Disturbed(what, of - lost, of, less.latency, less.throughput, outcomes, lasts_s, pool=pool)


def _of_cost(item: ObjectiveOutcome) -> bool:
    return item.objective.startswith("cost")


def _missed(item: ObjectiveOutcome) -> ObjectiveOutcome:
    return replace(item, estimate=None, low=None, high=None, outcome="missed")


def _replaced(found: Detail, away: int, start_s: float) -> Disturbed:
    from planner.evaluation import simulation

    plan, serving = found.running, found.running.hardware.replicas.minimum
    run = None
    if simulation.wanted(plan):
        run = simulation.rolling(plan, found.ledger, found.served, away, start_s)
    if run is None:
        return _without("rolling-update", found, away, serving, math.ceil(serving / away) * start_s)
    lasts = run.fleet.rolled_s - run.begin_s if math.isfinite(run.fleet.rolled_s) else None
    return _made("rolling-update", found, plan, run, serving - away, lasts)


def _made(
    what: str, found: Detail, plan: Plan, run: Run, serving: int, lasts_s: float | None, recovers_s: float | None = None
) -> Disturbed:
    """Judged by the objectives on what requests are answered with, of a run."""
    from planner.evaluation import evaluated, simulation

    served = simulation.applied(plan, found.served, run)
    judged = evaluated(plan, found.ledger, served, plan).objectives
    outcomes = tuple(item for item in judged if not _of_cost(item) and item.objective != "memory_headroom")
    return Disturbed(
        what, serving, plan.hardware.replicas.minimum, served.latency, served.throughput, outcomes, lasts_s, recovers_s
    )


def _rising(found: Detail) -> Iterator[Disturbed]:
    from planner.evaluation import simulation

    plan, fitting = found.plan, found.served.sequences_that_fit
    before = replicas.settled(plan, fitting, peak=False).hardware.replicas.minimum
    if before >= found.running.hardware.replicas.minimum or not simulation.wanted(plan):
        return
    rise = simulation.rising(plan, before, found.ledger, found.served)
    if rise is None:
        return
    run, lasts = rise
    yield _made("rise-to-peak", found, found.running, run, before, lasts, _recovers_s(plan, run))


def _recovers_s(plan: Plan, run: Run) -> float:
    """From the beginning of the rise to the last of the arrivals, taken a hundred at a time, that miss an objective."""
    came = [item for engine in run.engines for item in engine.done if item.arrival_s >= run.begin_s]
    came.sort(key=lambda item: item.arrival_s)
    groups = [came[index : index + GROUP] for index in range(0, len(came) - GROUP + 1, GROUP)] or [came]
    missed = [index for index, group in enumerate(groups) if _misses(plan, group)]
    if not missed:
        return 0.0
    last = missed[-1]
    return math.inf if last == len(groups) - 1 else groups[last][-1].arrival_s - run.begin_s


def _misses(plan: Plan, items: Sequence[Request]) -> bool:
    """Whether these requests miss an objective on their latencies, or were turned away."""
    served = [item for item in items if not item.rejected]
    if not served:
        return True
    fixed = math.fsum(plan.workload.fixed_s.values())
    figures = {
        "time_to_first_token": [item.time_to_first_token_s + fixed for item in served],
        "request_latency": [item.latency_s + fixed for item in served],
        "time_per_output_token": [item.time_per_output_token_s for item in served],
        "inter_token_latency": [item.time_per_output_token_s for item in served],
    }
    for limit in plan.objectives.limits:
        if limit.metric in TIMED and _at(figures[limit.metric], limit.statistic or "mean") > limit.limit:
            return True
    return False


def _at(values: Sequence[float], statistic: str) -> float:
    if statistic == "mean":
        return mean(values)
    return max(values) if statistic == "max" else quantiles(values, [float(statistic[1:]) / 100.0])[0]
