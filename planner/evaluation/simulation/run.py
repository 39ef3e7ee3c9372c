"""One run of a plan's load: how long, how many engines, and what was read off it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation.latency import Served, seats_of
from planner.evaluation.mix import turns_of
from planner.evaluation.pools import apart, fetch_s
from planner.evaluation.ranks import steppers_of
from planner.evaluation.replicas import target_of
from planner.evaluation.simulation.happening import Happening, Shown
from planner.evaluation.simulation.requests import Drawn, own_loads, side_by_side_of, source_of
from planner.evaluation.simulation.serving import clock_of, limits_of
from planner.traffic.engine import EngineSimulation
from planner.traffic.fleet import ROUTERS, Fleet, Scaling
from planner.traffic.outcome import Outcome, outcome
from planner.traffic.population import until

REQUESTS = 4_000
"""Of a run without a length of its own: the 99th percentile then rests on forty requests."""
RESIDENCES = 12.0
"""A run lasts at least so many times what a request stays, so that it is mostly in its steady state."""
LIFETIMES = 3.0
"""Of live sessions: while the first start, and two in which all are there."""
FEWEST_LIFETIMES = 1.5
MOST_REQUESTS = 40_000
MOST_ASKED = 1_000_000
"""Of a run whose length was asked for."""
MOST_STEPS = 400_000.0
"""Iterations with prompt tokens in a run, which bounds the time that a spec can ask for."""
FEWEST = 200
WARM_UP = 0.1
MOST_ENGINES = 16
MOST_POOLED = 64
"""Engines of two pools, which have to be simulated whole: their ratio is what matters."""
SEED = 1


@dataclass(frozen=True, slots=True)
class Run:
    """A simulation and what was read off it. engines: some of those that serve; `share`: of the load, theirs."""

    engines: Sequence[EngineSimulation]
    fleet: Fleet
    outcome: Outcome
    by_class: dict[str, Outcome]
    share: float
    begin_s: float
    end_s: float

    @property
    def of_engines(self) -> int:
        """Engines that there are."""
        return round(len(self.engines) / self.share)


@dataclass(frozen=True, slots=True)
class Summary:
    """What is kept of a run. serving: (seconds, replicas that serve, replicas that are paid for)."""

    outcome: Outcome
    by_class: Mapping[str, Outcome]
    shown_engines: int
    share: float
    serving: Sequence[tuple[float, int, int]] = ()


def summary(run: Run) -> Summary:
    """Engines left out: they hold every request."""
    return Summary(run.outcome, run.by_class, len(run.engines), run.share, tuple(run.fleet.serving_s))


def runs(plan: Plan) -> bool:
    """Whether the load can be run: every class has lengths, a trace was read."""
    classes = plan.workload.classes
    if not classes or any(item.prompt is None or item.output is None for item in classes):
        return False
    return plan.workload.load.kind != "trace" or plan.workload.load.recording is not None


def wanted(plan: Plan) -> bool:
    """Whether the load is one that closed forms do not answer: open arrivals, recorded ones, sessions, finite runs."""
    load = plan.workload.load
    turns = any(item.session is not None and item.session.turns > 1 for item in plan.workload.classes)
    open_ended = load.kind in ("rate", "sessions", "period", "trace")
    return runs(plan) and (open_ended or load.requests is not None or turns or side_by_side_of(plan))


def simulate(
    plan: Plan,
    ledger: MemoryLedger,
    served: Served,
    scale: float = 1.0,
    seed: int = SEED,
    progress: Callable[[int], None] | None = None,
    requests: int | None = None,
    until_s: float = math.inf,
    happening: Happening | None = None,
) -> Run | None:
    """The declared load, `scale` times as dense. None where a run would be too long to make.

    progress: called with the requests done so far. requests: how many to send over the deployment, whatever the time
    it takes (sessions, where those are counted); None: what the figures need. until_s: nothing arrives from then on.
    """
    shown = happening.shown if happening and happening.shown else _affordable(plan, served)
    happens = happening or _scaling(plan, served, shown)
    sent = happens.requests or requests_of(plan, served, shown.share)
    if requests is not None:
        sent = math.ceil(requests * shown.share)
    if sent < 1 or sum(pool.engines for pool in served.pools.values()) > MOST_POOLED:
        return None
    fleet = pools_of(plan, served) if served.pools else _engines(plan, ledger, served, shown, happens)
    fleet.progress = progress
    engines = fleet.engines[fleet.prefills :]
    lasts, ends = session_s(plan, served), _side_by_side_s(plan, served, shown.share)
    source = source_of(plan, Drawn(sent, seed, shown.share, scale, happens.rise, lasts, ends))
    fleet.run(until(source, until_s) if until_s < math.inf else source)
    begin, end = happens.looked_at(fleet) if happens.looked_at else _looked_at(plan, engines, lasts, ends)
    owners = {item.name: index for index, item in enumerate(plan.workload.classes)}
    several = len(owners) > 1 and plan.workload.load.kind != "trace"
    by_class = {name: outcome(engines, begin, owner, end) for name, owner in owners.items()} if several else {}
    return Run(engines, fleet, outcome(engines, begin, None, end), by_class, shown.share, begin, end)


def _engines(plan: Plan, ledger: MemoryLedger, served: Served, shown: Shown, happens: Happening) -> Fleet:
    limits = limits_of(plan, ledger, served.service)
    clock = clock_of(served.service, limits)
    return Fleet(
        [EngineSimulation(clock, limits, owners=owners_of(plan)) for _ in range(shown.replicas * shown.ranks)],
        router=plan.engine.routing or ROUTERS[0],
        group=shown.ranks,
        outages=happens.outages,
        rollout=happens.rollout,
        scaling=happens.scaling,
    )


def owners_of(plan: Plan) -> int:
    """Classes whose gaps are told apart: recorded traffic does not say which class sent what."""
    return 1 if plan.workload.load.kind == "trace" else max(len(plan.workload.classes), 1)


def pools_of(plan: Plan, served: Served) -> Fleet:
    """Every engine of both pools; those that answer fetch what the others have computed."""
    engines: list[EngineSimulation] = []
    numbers: list[int] = []
    for name, pool in served.pools.items():
        limits = limits_of(pool.plan, pool.ledger, pool.served.service)
        if name == "decode":
            limits = replace(limits, fetch_s=fetch_s(plan))
        clock = clock_of(pool.served.service, limits)
        numbers.append(pool.engines)
        engines += [EngineSimulation(clock, limits, owners=owners_of(plan)) for _ in range(pool.engines)]
    return Fleet(engines, router=plan.engine.routing or ROUTERS[0], prefills=numbers[0])


def shown_of(plan: Plan) -> Shown:
    """Engines that are simulated, of those that serve; replicas whole where they fit. Pools are simulated whole."""
    if apart(plan):
        return Shown(1, 1, 1.0)
    replicas = plan.hardware.replicas
    all_replicas, all_ranks = (
        max(1, replicas.maximum if replicas.scales else replicas.minimum),
        steppers_of(plan),
    )
    ranks = min(all_ranks, MOST_ENGINES)
    shown = min(all_replicas, max(MOST_ENGINES // ranks, 1))
    return Shown(shown, ranks, shown * ranks / (all_replicas * all_ranks))


def _affordable(plan: Plan, served: Served) -> Shown:
    """Fewer replicas where all of them would take more live sessions than a run may have."""
    shown = shown_of(plan)
    while shown.replicas > 1 and plan.workload.load.kind == "sessions" and not requests_of(plan, served, shown.share):
        fewer = shown.replicas // 2
        shown = Shown(fewer, shown.ranks, shown.share * fewer / shown.replicas)
    return shown


def _scaling(plan: Plan, served: Served, shown: Shown) -> Happening:
    """Replicas follow a recorded load; for others they are settled already (`evaluation.replicas`)."""
    declared = plan.hardware.replicas
    if not declared.scales:
        return Happening()
    return Happening(scaling=scaling_of(plan, served, shown))


def scaling_of(plan: Plan, served: Served, shown: Shown) -> Scaling:
    """Of the replicas that are simulated. A start of no declared time is at once."""
    declared = plan.hardware.replicas
    fewest = max(round(declared.minimum * shown.replicas / declared.maximum), 1)
    wanted = target_of(plan, served.service, seats_of(plan, served.sequences_that_fit))
    return Scaling(fewest, declared.start_time_s or 0.0, wanted * shown.ranks / steppers_of(plan))


def _looked_at(plan: Plan, engines: Sequence[EngineSimulation], session_s: float, ends_s: float) -> tuple[float, float]:
    """A finite run is looked at whole. Of others the first tenth of the arrivals is left out; of sessions what comes
    before the first may have ended, and after the last has started."""
    load = plan.workload.load
    if ends_s < math.inf:
        return max(WARM_UP * ends_s, session_s), math.inf
    if load.requests is not None or load.kind in ("trace", "period"):
        return 0.0, math.inf
    if load.kind != "period" and turns_of(plan) > 1.0:
        last = max((item.arrival_s for engine in engines for item in engine.done if not item.turn), default=0.0)
        return session_s, last if last > 1.5 * session_s else math.inf
    arrivals = sorted(item.arrival_s for engine in engines for item in engine.done)
    return (arrivals[int(len(arrivals) * WARM_UP)] if arrivals else 0.0), math.inf


def _side_by_side_s(plan: Plan, served: Served, share: float) -> float:
    """How long loads of several kinds go on side by side; until each is done where all have an end of their own."""
    loads = own_loads(plan)
    if not side_by_side_of(plan) or all(load.requests is not None for load in loads):
        return math.inf
    stays = served.service.mean_prefill_s + max(served.service.mix.output - 1.0, 0.0) * served.operating.itl_s
    rate = math.fsum((load.rate_per_s or 0.0) * load.peak for load in loads) * share
    loops = math.fsum(load.concurrency or float(load.sessions or 0) for load in loads) * share
    needed = REQUESTS / max(rate, loops / max(stays, 1e-9), 1e-9)
    return max(needed, RESIDENCES * stays, LIFETIMES * session_s(plan, served))


def requests_of(plan: Plan, served: Served, share: float) -> int:
    """How many requests a run takes, sessions counted once: as declared, or enough for its percentiles, within what
    time allows."""
    load, mix = plan.workload.load, served.service.mix
    budget = float(plan.engine.max_num_batched_tokens or 8192)
    steps = mix.prompt / budget + 2.0
    most = min(MOST_STEPS / steps, MOST_REQUESTS)
    if load.kind == "trace":
        recording = load.recording
        held = len(recording.arrival_s) if recording is not None else 0
        wanted_requests = float(min(load.requests or held, held))
        return int(wanted_requests) if wanted_requests * steps <= 20.0 * MOST_STEPS else 0
    turns = turns_of(plan)
    if side_by_side_of(plan):
        return int(most)
    if load.requests is not None:
        return math.ceil(load.requests * share) if load.requests * share * turns <= 10.0 * most else 0
    if load.kind == "sessions":
        live = float(load.sessions or 1) * share
        sessions = min(max(REQUESTS / turns, live * LIFETIMES), most / turns)
        return math.ceil(sessions) if sessions >= live * FEWEST_LIFETIMES else 0
    stays = served.service.mean_prefill_s + max(mix.output - 1.0, 0.0) * served.operating.itl_s
    rate = (load.rate_per_s or 0.0) * load.peak * share
    lifetimes = rate * turns * LIFETIMES * session_s(plan, served)
    inside = rate * turns * stays if load.kind == "rate" else 1.0
    found = min(max(REQUESTS, inside * RESIDENCES, lifetimes), most)
    if found < FEWEST_LIFETIMES / LIFETIMES * lifetimes:
        return 0
    return max(int(found / turns), 1) if found >= FEWEST else 0


def session_s(plan: Plan, served: Served) -> float:
    """How long a session lasts, about: its turns, each served as the mean request is, and the pauses between them."""
    stays = served.service.mean_prefill_s + max(served.service.mix.output - 1.0, 0.0) * served.operating.itl_s
    longest = 0.0
    for item in plan.workload.classes:
        if item.session:
            turns = item.session.turns
            longest = max(longest, turns * stays + (turns - 1) * item.session.turn_delay_s)
    return longest
