"""Whether the queue of an open load grew all along a run: then its latencies hang on how long the run was.

Closed forms gate what is simulated, but do not see everything (requests computed again after a preemption, sessions
that evict one another). So every run is looked at: in quarters of the time during which requests came, with q the mean
of requests that wait,

    grew:  q4 - q2 > sqrt(N (c^2 + 1))  and  q4 > 1.5 q2

N: requests that came by themselves, turns that follow left out. c: coefficient of variation of the gaps between them.
The root is what N arrivals and services at random move a queue by that neither grows nor shrinks; from nothing, a queue
that grows steadily has q4 = 2.3 q2.
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.domain.evaluation import Latency, Throughput
from planner.domain.plan import Plan
from planner.evaluation.latency import Served
from planner.evaluation.ranks import engines_of
from planner.evaluation.simulation.run import Run
from planner.traffic.series import series

RATIO = 1.5


def served_at_most(plan: Plan, run: Run) -> float | None:
    """Requests a second that the deployment served while its queue grew; None where it did not grow."""
    if not _endless(plan, run):
        return None
    arrivals = [item.arrival_s for engine in run.engines for item in engine.done if not item.turn]
    last = max(arrivals, default=0.0)
    if last <= 0.0:
        return None
    quarters = series(run.engines, last / 4.0)[:4]
    if len(quarters) < 4:
        return None
    early, late = quarters[1].queue, quarters[3].queue
    moved = math.sqrt(len(arrivals) * (_variation(plan) ** 2 + 1.0))
    if late - early <= moved or late <= RATIO * early:
        return None
    completed = quarters[2].completed + quarters[3].completed
    return completed / (last / 2.0) / run.share


def _endless(plan: Plan, run: Run) -> bool:
    """Arrivals at a rate for ever, nothing turned away, and nothing happens to the replicas."""
    loads = [item.load for item in plan.workload.classes if item.load is not None] or [plan.workload.load]
    happens = run.fleet.outages or run.fleet.rollout is not None or run.fleet.scaling is not None
    return (
        not happens
        and plan.workload.queue is None
        and all(load.kind == "rate" and load.requests is None for load in loads)
    )


def _variation(plan: Plan) -> float:
    load = plan.workload.load
    return {"constant": 0.0, "gamma": load.cv or 1.0}.get(load.process, 1.0)


def overloaded(plan: Plan, served: Served, run: Run, most: float) -> Served:
    """What is served of a load that is too much: rates, and no latency. most: requests a second."""
    load = plan.workload.load
    offered = (load.rate_per_s or 0.0) * load.peak * served.service.mix.turns
    operating = replace(
        served.operating,
        overloaded=True,
        waiting_s=math.inf,
        waiting_p={},
        rate_per_s=most / engines_of(plan),
        utilisation=max(offered / most, 1.0) if most else math.inf,
    )
    return replace(
        served,
        operating=operating,
        latency=_steps(served.latency),
        throughput=_at_most(plan, served.throughput, run, most),
        classes={
            name: (_steps(own), _shared(rate, served.throughput, most)) for name, (own, rate) in served.classes.items()
        },
    )


def _steps(latency: Latency) -> Latency:
    """Times of steps alone."""
    return Latency(
        decode_step_s=latency.decode_step_s,
        prefill_s=latency.prefill_s,
        decode=latency.decode,
        prefill=latency.prefill,
    )


def _at_most(plan: Plan, closed: Throughput, run: Run, most: float) -> Throughput:
    """At saturation, with the tokens of a request as the run had them."""
    found = run.outcome
    each = most / found.requests_per_s if found.requests_per_s else 0.0
    output = found.output_tokens_per_s * each
    cards = plan.hardware.count * max(1, plan.hardware.replicas.minimum)
    return replace(
        closed,
        output_tokens_per_s=output,
        total_tokens_per_s=found.total_tokens_per_s * each,
        requests_per_s=most,
        output_tokens_per_s_per_user=None,
        output_tokens_per_s_per_accelerator=output / cards,
        max_requests_per_s=min(closed.max_requests_per_s or most, most),
        rejected_fraction=None,
        goodput_requests_per_s=None,
    )


def _shared(own: Throughput, total: Throughput, most: float) -> Throughput:
    """A class's share of what is served."""
    whole = total.requests_per_s or 0.0
    share = most / whole if whole else 0.0
    return replace(
        own,
        requests_per_s=(own.requests_per_s or 0.0) * share,
        output_tokens_per_s=(own.output_tokens_per_s or 0.0) * share,
        total_tokens_per_s=(own.total_tokens_per_s or 0.0) * share,
        rejected_fraction=None,
    )
