"""A plan's load through the event simulation: what closed forms only bound.

Every data-parallel rank of every replica is an engine; requests are shared out in turn. Lengths are drawn from the
declared distributions, each of 512 equal slices as often as any other; the same spec gives the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from planner.domain.evaluation import Latency, Percentiles, Throughput
from planner.domain.plan import Plan
from planner.domain.workload import Length, Load, RequestClass
from planner.engines import MemoryLedger
from planner.evaluation.floor_clock import FloorClock
from planner.evaluation.latency import Served, engines_of, seats_of
from planner.evaluation.mix import cached_tokens, images, prompt_tokens, quantile
from planner.evaluation.operating import engine_of
from planner.evaluation.service import Service
from planner.traffic.engine import Clock, EngineSimulation, Limits
from planner.traffic.fleet import Fleet
from planner.traffic.outcome import Outcome, goodput, outcome
from planner.traffic.population import Kind, Source, closed_loop, open_loop, recorded, side_by_side
from planner.traffic.request import Request
from planner.traffic.step_clock import StepClock

SLICES = 512
REQUESTS = 4_000
"""Of a run without a length of its own: the 99th percentile then rests on forty requests."""
RESIDENCES = 12.0
"""A run lasts at least so many times what a request stays, so that it is mostly in its steady state."""
MOST_REQUESTS = 40_000
MOST_STEPS = 400_000.0
"""Iterations with prompt tokens in a run, which bounds the time that a spec can ask for."""
FEWEST = 200
WARM_UP = 0.1
MOST_ENGINES = 16
SEED = 1
UNLIMITED_SEATS = 4096.0
SPREAD = 0.1


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
    """What is kept of a run. occupancy: (seconds, running, waiting, blocks in use) of the first engine.

    blocks: of one engine's cache, 0 where there is no limit. serving: (seconds, engines that serve).
    """

    outcome: Outcome
    by_class: Mapping[str, Outcome]
    shown_engines: int
    of_engines: int
    occupancy: Sequence[tuple[float, int, int, int]]
    blocks: int
    serving: Sequence[tuple[float, int]] = ()


def summary(run: Run) -> Summary:
    """Engines left out: they hold every request."""
    first = run.engines[0]
    return Summary(
        run.outcome, run.by_class, len(run.engines), run.of_engines, tuple(first.occupancy.rows), first.limits.blocks,
        tuple(run.fleet.serving_s),
    )  # fmt: skip


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
             progress: Callable[[int], None] | None = None) -> Run | None:  # fmt: skip
    """The declared load, `scale` times as dense. None where a run would be too long to make."""
    total = engines_of(plan)
    shown = min(total, MOST_ENGINES)
    share = shown / total
    requests = _requests(plan, served, share)
    if requests < 1:
        return None
    limits = limits_of(plan, ledger, served.service)
    clock = clock_of(served.service, limits)
    engines = [EngineSimulation(clock, limits) for _ in range(shown)]
    fleet = Fleet(engines, progress=progress)
    fleet.run(_source(plan, share * scale, requests, seed))
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
    return arrivals[int(len(arrivals) * WARM_UP)], math.inf


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


# ------------------------------------------------------------------ the engine


def limits_of(plan: Plan, ledger: MemoryLedger, service: Service) -> Limits:
    """Of one data-parallel rank."""
    memory, engine = ledger.memory, plan.engine
    block = max(int(engine.block_size or 16), 1)
    tokens = memory.kv_capacity_tokens
    blocks = int(tokens / engine.data_parallel_size // block) if tokens is not None and math.isfinite(tokens) else 0
    seats = float(engine.max_num_seqs or UNLIMITED_SEATS)
    if blocks == 0:
        seats = min(seats, seats_of(plan, memory.max_concurrency))
    speculation = plan.techniques.speculation
    settings = engine_of(service, seats, 1.0) if service.step.cost is not None else None
    queue = plan.workload.queue
    return Limits(
        budget_tokens=int(engine.max_num_batched_tokens or 8192) * max(engine.pipeline_parallel_size, 1),
        seats=max(int(min(seats, 1e9)), 1),
        blocks=blocks,
        block_tokens=block,
        reserve_maximum=engine.admission == "reserve-maximum",
        chunked=plan.techniques.chunked_prefill or service.step.ideal,
        continuous=plan.techniques.continuous_batching or service.step.ideal,
        tokens_per_step=speculation.tokens_per_step if speculation else 1.0,
        proposed=speculation.proposed if speculation else 0,
        first_token_s=float(settings.first_token_s) if settings else 0.0,
        first_token_steps=float(settings.first_token_steps) if settings else 0.0,
        queue=float(queue.requests) if queue and queue.requests is not None else math.inf,
        queue_s=queue.timeout_s if queue and queue.timeout_s is not None else math.inf,
    )


def clock_of(service: Service, limits: Limits) -> Clock:
    """Step times of the plan's engine."""
    speculation = service.plan.techniques.speculation
    width = speculation.proposed + 1.0 if speculation else 1.0
    if service.step.cost is None:
        return FloorClock(service, width)
    chunk = limits.budget_tokens / max(service.plan.engine.pipeline_parallel_size, 1)
    return StepClock(service.step.cost, chunk, width, service.drafting_s, service.prompt_extra_s)


# ------------------------------------------------------------------ the requests


def _source(plan: Plan, share: float, requests: int, seed: int) -> Source:
    """share: of the load, that the simulated engines get. Classes with loads of their own send them side by side."""
    workload = plan.workload
    kinds = [_kind(plan, item) for item in workload.classes]
    own = [item.load for item in workload.classes]
    if all(load is not None for load in own) and len({load.kind for load in own if load}) > 1:
        each = max(requests // len(kinds), 1)
        return side_by_side(
            [
                _one_load(plan, load, kinds, [index], share, each, seed)
                for index, load in enumerate(own)
                if load is not None
            ]
        )
    return _one_load(plan, workload.load, kinds, range(len(kinds)), share, requests, seed)


def _one_load(
    plan: Plan, load: Load, kinds: Sequence[Kind], owners: Sequence[int], share: float, requests: int, seed: int
) -> Source:
    """One load, sent by the classes `owners`."""
    if load.kind == "trace" and load.recording is not None:
        caching = plan.techniques.prefix_caching
        return recorded(load.recording, load.scale * load.peak * share, requests, caching)
    closed = {
        "sessions": float(load.sessions or 1) * share,
        "offline": float(requests),
        "concurrency": (load.concurrency or 1.0) * share,
    }
    if load.kind in closed:
        spread = [replace(kind, outputs=_spread(kind.outputs)) for kind in kinds]
        return closed_loop(spread, max(round(closed[load.kind]), 1), requests, seed, owners)
    if load.kind == "period":
        period = (load.period_s or 1.0) * load.actions
        rates = [(kind.share / period, "constant", 0.0) for kind in kinds]
    else:
        rates = _rates(plan, share)
    return open_loop(kinds, [rate if index in owners else (0.0, "poisson", 1.0) for index, rate in enumerate(rates)],
                     requests, seed)  # fmt: skip


def _rates(plan: Plan, share: float) -> list[tuple[float, str, float]]:
    """(rate, process, variation) of each class: its own load's, or its share of all."""
    load, classes = plan.workload.load, plan.workload.classes
    total = math.fsum(item.share for item in classes) or 1.0
    found: list[tuple[float, str, float]] = []
    for item in classes:
        own = item.load if item.load is not None and item.load.kind == "rate" else None
        chosen = own or load
        rate = (chosen.rate_per_s or 0.0) * chosen.peak * share * (1.0 if own else item.share / total)
        found.append((rate, chosen.process, chosen.cv or 1.0))
    return found


def _kind(plan: Plan, item: RequestClass) -> Kind:
    caching = plan.techniques.prefix_caching
    prefix, session = item.prefix, item.session
    hit = cached_tokens(plan, item) / max(prompt_tokens(item), 1.0) if prefix and prefix.hit_rate is not None else 0.0
    prompt, output = item.prompt, item.output
    return Kind(
        prompts=[value + images(item) for value in _lengths(prompt)] if prompt else [1.0],
        outputs=_lengths(output) if output else [1.0],
        reserved=math.ceil(output.maximum) if output else 1,
        share=item.share,
        hit_rate=hit,
        shared_tokens=int(prefix.shared_tokens or 0) if prefix else 0,
        turns=min(session.turns, 10_000) if session else 1,
        delay_s=session.turn_delay_s if session else 0.0,
        growth=int(session.context_growth_tokens) if session else 0,
        caching=caching,
    )


def _spread(outputs: Sequence[float]) -> Sequence[float]:
    """One declared length stands for answers within a tenth of it: in a closed loop, equal ones would march in step."""
    if len(outputs) > 1:
        return outputs
    return [outputs[0] * (1.0 + SPREAD * (2.0 * (index + 0.5) / SLICES - 1.0)) for index in range(SLICES)]


def _lengths(length: Length) -> tuple[float, ...]:
    if length.values:
        return length.values
    return (length.mean,) if length.fixed else _sliced(tuple(sorted(length.points.items())))


@lru_cache(maxsize=64)
def _sliced(points: tuple[tuple[str, float], ...]) -> tuple[float, ...]:
    """Middles of equal slices of the distribution, scaled to its mean, its maximum kept."""
    length = Length(dict(points))
    values = [quantile(length, (index + 0.5) / SLICES) for index in range(SLICES)]
    scale = length.mean / (math.fsum(values) / SLICES)
    return tuple(min(value * scale, length.maximum) for value in values)


# ------------------------------------------------------------------ what it means for the plan


def applied(plan: Plan, served: Served, run: Run) -> Served:
    """Simulated percentiles and rates in place of the closed forms'."""
    fixed = math.fsum(plan.workload.fixed_s.values())
    classes = {
        name: (_latency(plan, served.latency, found, fixed), _throughput(plan, served.throughput, found, run))
        for name, found in run.by_class.items()
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


def _throughput(plan: Plan, closed: Throughput, found: Outcome, run: Run) -> Throughput:
    """Of the whole deployment at its mean rate: a peak is what objectives hold at, not what is served all day."""
    whole = run.of_engines / len(run.engines)
    load = plan.workload.load
    finite = load.requests is not None or load.kind in ("trace", "sessions") or plan.workload.queue is not None
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
        rejected_fraction=found.rejected_fraction,
    )


def goodput_of(plan: Plan, run: Run) -> float:
    """Requests a second, over the deployment, that keep every latency limit declared for requests."""
    fixed = math.fsum(plan.workload.fixed_s.values())
    figures: dict[str, Callable[[Request], float]] = {
        "time_to_first_token": lambda item: item.time_to_first_token_s + fixed,
        "time_per_output_token": lambda item: item.time_per_output_token_s,
        "inter_token_latency": lambda item: item.time_per_output_token_s,
        "request_latency": lambda item: item.latency_s + fixed,
    }
    limits = [_kept(figures[item.metric], item.limit) for item in plan.objectives.limits if item.metric in figures]
    return goodput(run.engines, limits, run.begin_s) * run.of_engines / len(run.engines)


def _kept(figure: Callable[[Request], float], limit: float) -> Callable[[Request], bool]:
    return lambda item: figure(item) <= limit
