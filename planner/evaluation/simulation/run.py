"""One run of a plan's load: how long, how many engines, and what was read off it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation.latency import Served, engines_of
from planner.evaluation.simulation.requests import source_of
from planner.evaluation.simulation.serving import clock_of, limits_of
from planner.traffic.engine import EngineSimulation
from planner.traffic.fleet import Fleet
from planner.traffic.outcome import Outcome, outcome
from planner.traffic.population import until

REQUESTS = 4_000
"""Of a run without a length of its own: the 99th percentile then rests on forty requests."""
RESIDENCES = 12.0
"""A run lasts at least so many times what a request stays, so that it is mostly in its steady state."""
MOST_REQUESTS = 40_000
MOST_ASKED = 1_000_000
"""Of a run whose length was asked for."""
MOST_STEPS = 400_000.0
"""Iterations with prompt tokens in a run, which bounds the time that a spec can ask for."""
FEWEST = 200
WARM_UP = 0.1
MOST_ENGINES = 16
SEED = 1


@dataclass(frozen=True, slots=True)
class Run:
    """A simulation and what was read off it. engines: of `of_engines` that serve; the load is their share of it."""

    engines: Sequence[EngineSimulation]
    fleet: Fleet
    outcome: Outcome
    by_class: dict[str, Outcome]
    of_engines: int
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What is kept of a run. serving: (seconds, replicas that serve, replicas that are paid for)."""

    outcome: Outcome
    by_class: Mapping[str, Outcome]
    shown_engines: int
    of_engines: int
    serving: Sequence[tuple[float, int, int]] = ()


def summary(run: Run) -> Summary:
    """Engines left out: they hold every request."""
    return Summary(run.outcome, run.by_class, len(run.engines), run.of_engines, tuple(run.fleet.serving_s))


def wanted(plan: Plan) -> bool:
    """Whether the load is one that closed forms do not answer: open arrivals, recorded ones, sessions, finite runs."""
    classes = plan.workload.classes
    if not classes or any(item.prompt is None or item.output is None for item in classes):
        return False
    load = plan.workload.load
    if load.kind == "trace":
        return load.recording is not None
    return load.kind in ("rate", "sessions", "period") or load.requests is not None


def simulate(plan: Plan, ledger: MemoryLedger, served: Served, scale: float = 1.0, seed: int = SEED,
             progress: Callable[[int], None] | None = None, requests: int | None = None,
             until_s: float = math.inf) -> Run | None:  # fmt: skip
    """The declared load, `scale` times as dense. None where a run would be too long to make.

    progress: called with the requests done so far. requests: how many to send over the deployment, whatever the time
    it takes (sessions, where those are counted); None: what the figures need. until_s: nothing arrives from then on.
    """
    total = engines_of(plan)
    shown = min(total, MOST_ENGINES)
    share = shown / total
    sent = _requests(plan, served, share) if requests is None else math.ceil(requests * share)
    if sent < 1:
        return None
    limits = limits_of(plan, ledger, served.service)
    clock = clock_of(served.service, limits)
    engines = [EngineSimulation(clock, limits) for _ in range(shown)]
    fleet = Fleet(engines, progress=progress)
    source = source_of(plan, share * scale, sent, seed)
    fleet.run(until(source, until_s) if until_s < math.inf else source)
    begin, end = _looked_at(plan, engines)
    owners = {item.name: index for index, item in enumerate(plan.workload.classes)}
    several = len(owners) > 1 and plan.workload.load.kind != "trace"
    by_class = {name: outcome(engines, begin, owner, end) for name, owner in owners.items()} if several else {}
    return Run(engines, fleet, outcome(engines, begin, None, end), by_class, total, begin, end)


def _looked_at(plan: Plan, engines: Sequence[EngineSimulation]) -> tuple[float, float]:
    """A finite run is looked at whole; of others the first tenth of the arrivals is left out."""
    if plan.workload.load.requests is not None or plan.workload.load.kind in ("trace", "period"):
        return 0.0, math.inf
    arrivals = sorted(item.arrival_s for engine in engines for item in engine.done)
    return (arrivals[int(len(arrivals) * WARM_UP)] if arrivals else 0.0), math.inf


def _requests(plan: Plan, served: Served, share: float) -> int:
    """How many requests a run takes: as declared, or enough for its percentiles, within what time allows."""
    load, mix = plan.workload.load, served.service.mix
    budget = float(plan.engine.max_num_batched_tokens or 8192)
    steps = mix.prompt / budget + 2.0
    most = min(MOST_STEPS / steps, MOST_REQUESTS)
    if load.kind == "trace":
        recording = load.recording
        held = len(recording.arrival_s) if recording is not None else 0
        wanted_requests = float(min(load.requests or held, held))
        return int(wanted_requests) if wanted_requests * steps <= 20.0 * MOST_STEPS else 0
    if load.requests is not None:
        return math.ceil(load.requests * share) if load.requests * share <= 10.0 * most else 0
    stays = served.service.mean_prefill_s + max(mix.output - 1.0, 0.0) * served.operating.itl_s
    inside = {
        "rate": (load.rate_per_s or 0.0) * load.peak * share * stays,
        "sessions": float(load.sessions or 1) * share,
        "period": 1.0,
    }.get(load.kind, 1.0)
    found = min(max(REQUESTS, inside * RESIDENCES), most)
    return int(found) if found >= FEWEST else 0
