"""Simulated percentiles and rates as the figures of a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from planner.domain.evaluation import Latency, Percentiles, Throughput
from planner.domain.plan import Plan
from planner.domain.workload import Objective
from planner.engines import MemoryLedger
from planner.evaluation.latency import Served
from planner.evaluation.simulation.requests import side_by_side_of
from planner.evaluation.simulation.run import Run, runs, simulate, summary
from planner.evaluation.simulation.steady import overloaded, served_at_most
from planner.traffic.outcome import Outcome, kept
from planner.traffic.request import Request


def run_of(plan: Plan, ledger: MemoryLedger, served: Served) -> Served:
    """The figures of any load by a run of it; as they are where it cannot be run or its queue grows without bound."""
    grows = served.operating.overloaded and plan.workload.queue is None  # a queue with a limit turns the rest away
    if grows or not ledger.memory.fits or not runs(plan):
        return served
    run = simulate(plan, ledger, served)
    return served if run is None else applied(plan, served, run)


def applied(plan: Plan, served: Served, run: Run) -> Served:
    """Simulated percentiles and rates in place of the closed forms'; none of latency where the queue grew all along."""
    most = served_at_most(plan, run)
    if most is not None:
        return overloaded(plan, served, run, most)
    fixed = math.fsum(plan.workload.fixed_s.values())
    classes = {
        name: (
            _latency(plan, served.latency, found, fixed),
            _throughput(plan, served.classes.get(name, (None, served.throughput))[1], found, run, owner),
        )
        for owner, (name, found) in enumerate(run.by_class.items())
    }
    return replace(
        served,
        operating=replace(served.operating, overloaded=False),
        latency=_latency(plan, served.latency, run.outcome, fixed),
        throughput=_throughput(plan, served.throughput, run.outcome, run),
        classes=classes or served.classes,
        simulated=summary(run),
    )


def _latency(plan: Plan, closed: Latency, found: Outcome, fixed: float) -> Latency:
    """With what the spec adds to every latency. A finite run lasts until its last token."""
    finite = plan.workload.load.requests is not None
    return replace(
        closed,
        time_to_first_token_s=_percentiles(found.first_token, fixed),
        inter_token_latency_s=_percentiles(found.gap, 0.0),
        time_per_output_token_s=_percentiles(found.per_token, 0.0),
        request_latency_s=_percentiles(found.latency, fixed),
        session_latency_s=_percentiles(found.session, fixed) if found.session else closed.session_latency_s,
        completion_s=found.duration_s if finite else closed.completion_s,
    )


def _percentiles(found: Mapping[str, float], fixed: float) -> Percentiles:
    return Percentiles(**{name: value + fixed for name, value in found.items()})


def _throughput(plan: Plan, closed: Throughput, found: Outcome, run: Run, owner: int | None = None) -> Throughput:
    """With the share of requests that keep every limit."""
    rates = _rates_of(plan, closed, found, run)
    good, _ = kept_of(plan, run, owner)
    share = good / found.requests if found.requests else 0.0
    return replace(rates, goodput_requests_per_s=share * (rates.requests_per_s or 0.0))


def _rates_of(plan: Plan, closed: Throughput, found: Outcome, run: Run) -> Throughput:
    """Of the whole deployment at its mean rate: a peak is what objectives hold at, not what is served all day."""
    load = plan.workload.load
    whole = 1.0 / run.share / (load.peak if load.kind == "rate" and load.requests is None else 1.0)
    own = load.requests is None and load.kind in ("rate", "period") and not side_by_side_of(plan)
    finite = not own or found.rejected
    if not finite:  # an open load that is held serves what comes; the sample's own rate is noise
        return replace(closed, rejected_fraction=found.rejected_fraction)
    cards = plan.hardware.count * max(1, plan.hardware.replicas.minimum)
    gap = found.gap.get("mean")
    output = found.output_tokens_per_s * whole
    return replace(
        closed,
        output_tokens_per_s=output,
        total_tokens_per_s=found.total_tokens_per_s * whole,
        requests_per_s=found.requests_per_s * whole,
        output_tokens_per_s_per_user=1.0 / gap if gap else closed.output_tokens_per_s_per_user,
        output_tokens_per_s_per_accelerator=output / cards,
        max_requests_per_s=None if side_by_side_of(plan) else closed.max_requests_per_s,
        rejected_fraction=found.rejected_fraction,
    )


def kept_of(plan: Plan, run: Run, of_class: int | None = None) -> tuple[int, int]:
    """(requests that keep every latency limit declared for them, all that the figures look at).

    of_class: of that class alone, by its index.
    """
    fixed = math.fsum(plan.workload.fixed_s.values())
    figures: dict[str, Callable[[Request], float]] = {
        "time_to_first_token": lambda item: item.time_to_first_token_s + fixed,
        "time_per_output_token": lambda item: item.time_per_output_token_s,
        "inter_token_latency": lambda item: item.time_per_output_token_s,
        "request_latency": lambda item: item.latency_s + fixed,
    }
    limits = [
        _kept(figures[item.metric], item.limit, owner)
        for owner, own in ((None, plan.objectives.limits), *_of_classes(plan))
        for item in own
        if item.metric in figures
    ]
    return kept(run.engines, limits, run.begin_s, run.end_s, of_class)


def _of_classes(plan: Plan) -> list[tuple[int | None, tuple[Objective, ...]]]:
    """Objectives of each class; recorded traffic does not say which class sent what."""
    if plan.workload.load.kind == "trace":
        return []
    return [(owner, item.objectives) for owner, item in enumerate(plan.workload.classes)]


def _kept(figure: Callable[[Request], float], limit: float, owner: int | None) -> Callable[[Request], bool]:
    return lambda item: (owner is not None and item.owner != owner) or figure(item) <= limit
