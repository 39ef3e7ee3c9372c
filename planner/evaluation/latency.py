"""Latency and throughput of a configured plan under its load, in closed form.

Closed loop without queueing beyond the seats: a request holds the engine for its prefill and for its share of the
steps, so with B in the batch

    request_s(B) = t_prefill + (output - 1) / tokens_per_step * t_step(B) / B        (engine time of one request)
    ITL          = t_step / tokens_per_step + (B - 1) t_prefill / (output - 1)       (others' prefills interrupt)
    rate         = 1 / request_s(B)

Open loop: B = rate x residence (Little), solved by bisection; waiting from Kingman's bound on the prefill queue.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from planner.domain.evaluation import Latency, Percentiles, Throughput
from planner.domain.plan import Plan
from planner.domain.workload import RequestClass
from planner.evaluation.mix import (
    Mix,
    cached_tokens,
    growth_tokens,
    images,
    mix_of,
    mixture_quantiles,
    output_tokens,
    pause_s,
    prompt_tokens,
    quantile,
)
from planner.evaluation.operating import Operating, closed, opened
from planner.evaluation.ranks import engines_of
from planner.evaluation.service import Service, service_of

MOST_TURNS = 10_000
STABLE = 0.999
"""Utilisation from which a queue is said to grow without bound."""


@dataclass(frozen=True, slots=True)
class Served:
    """Everything that latency.evaluate finds. simulated: `evaluation.simulation.Summary`, if any.

    sequences_that_fit: of mean length, on one rank. pools: {name: `evaluation.pools.Pool`}, where there are several.
    """

    latency: Latency
    throughput: Throughput
    operating: Operating
    service: Service
    classes: Mapping[str, tuple[Latency, Throughput]]
    simulated: Any = None
    sequences_that_fit: float | None = None
    pools: Mapping[str, Any] = field(default_factory=dict)


def seats_of(plan: Plan, max_concurrency: float | None) -> float:
    """Sequences that one rank runs together: the limit declared or taken, and what the cache holds of the mean."""
    limit = float(plan.engine.max_num_seqs or math.inf)
    if max_concurrency is not None and plan.engine.name != "ideal":
        limit = min(limit, max(max_concurrency, 1.0))
    return limit


def evaluate(plan: Plan, sequences_that_fit: float | None) -> Served:
    """Latency and throughput of the whole deployment. sequences_that_fit: of mean length, on one rank."""
    mix = mix_of(plan)
    service = service_of(plan, mix)
    seats = seats_of(plan, sequences_that_fit)
    operating = operate(service, seats)
    latency = _latency(service, operating, mix)
    if plan.workload.load.kind == "trace":  # recorded arrivals have no closed form: the steps alone are known
        alone = Latency(
            decode_step_s=latency.decode_step_s,
            prefill_s=latency.prefill_s,
            decode=latency.decode,
            prefill=latency.prefill,
        )
        return Served(alone, Throughput(), operating, service, {}, sequences_that_fit=sequences_that_fit)
    throughput = _throughput(service, operating, seats)
    classes: dict[str, tuple[Latency, Throughput]] = {}
    if len(plan.workload.classes) > 1 and mix.has_prompt:
        for item, share in zip(mix.classes, mix.shares, strict=True):
            own = mix_of(plan, (item,))
            classes[item.name] = (_latency(service, operating, own), _scaled(throughput, share, own, operating))
    return Served(latency, throughput, operating, service, classes, sequences_that_fit=sequences_that_fit)


# ------------------------------------------------------------------ where it works


def operate(service: Service, seats: float) -> Operating:
    """The batch that the load keeps busy on one rank."""
    load, ranks = service.plan.workload.load, engines_of(service.plan)
    if not service.mix.has_prompt:
        concurrency = (load.concurrency or 1.0) / ranks
        batch = max(min(concurrency, seats), 1.0)
        itl = service.decode_s(batch) / service.tokens_per_step
        return Operating(batch, itl, 0.0, {}, batch / itl, 1.0, False)
    if load.kind == "concurrency":
        return _closed(service, max((load.concurrency or 1.0) / ranks, 1.0), seats)
    if load.kind == "offline":
        return _closed(service, seats if math.isfinite(seats) else 256.0, seats)
    if load.kind == "rate":
        return _open(service, (load.rate_per_s or 0.0) * load.peak * service.mix.turns / ranks, seats)
    if load.kind == "sessions":
        return _thinking(service, (load.sessions or 1) / ranks, seats)
    if load.kind == "period":
        return _periodic(service, seats)
    return _closed(service, 1.0, seats)


def _itl(service: Service, batch: float, interrupting_s: float) -> float:
    """Mean gap: the step over its tokens, and the prefills of others that fall into it."""
    return service.decode_s(batch) / service.tokens_per_step + interrupting_s


def _closed(service: Service, concurrency: float, seats: float) -> Operating:
    if service.step.cost is not None:
        load = service.plan.workload.load
        finite = load.requests / engines_of(service.plan) if load.requests and load.kind == "concurrency" else None
        return closed(service, service.step.cost, concurrency, seats, finite)
    batch = max(min(concurrency, seats), 1.0)
    gaps = max(service.mix.output - 1.0, 1.0)
    request = service.request_s(batch)
    itl = _itl(service, batch, (batch - 1.0) * service.mean_prefill_s / gaps)
    waiting = max(concurrency - batch, 0.0) * request
    return Operating(batch, itl, waiting, {}, 1.0 / request, 1.0, False)


def _open(service: Service, rate: float, seats: float) -> Operating:
    """B solves B = rate x (output - 1) x ITL(B); overloaded where no batch within the seats serves the rate."""
    if service.step.cost is not None:
        found = opened(service, service.step.cost, rate, seats, STABLE)
        return found if found.overloaded else _with_tails(service, found)
    most = seats if math.isfinite(seats) else 4096.0
    utilisation = rate * service.request_s(most)
    if utilisation >= STABLE:
        itl = _itl(service, most, 0.0)
        return Operating(most, itl, math.inf, {}, 1.0 / service.request_s(most), utilisation, True)
    busy = rate * service.mean_prefill_s
    gaps = max(service.mix.output - 1.0, 1.0)

    def itl_of(batch: float) -> float:
        return service.decode_s(batch) / service.tokens_per_step / max(1.0 - busy, 1e-6)

    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rate * gaps * itl_of(max(middle, 1.0)) > middle else (low, middle)
    batch = max(high, 1.0)
    waiting, percentiles = _kingman(service, rate, busy)
    return Operating(batch, itl_of(batch), waiting, percentiles, rate, utilisation, False)


def _with_tails(service: Service, found: Operating) -> Operating:
    """Tails of the wait for a prefill by Kingman's bound, on top of what every request waits."""
    waiting, tails = _kingman(service, found.rate_per_s, min(found.rate_per_s * service.mean_prefill_s, 0.99))
    always = max(found.waiting_s - waiting, 0.0)
    return replace(found, waiting_p={name: always + value for name, value in tails.items()})


def _kingman(service: Service, rate: float, busy: float) -> tuple[float, dict[str, float]]:
    """Waiting before the prefill: W = rho/(1 - rho) S (ca^2 + cs^2)/2, exponential tail (W/rho) ln(rho/(1 - q)).

    Source: Kingman 1961; Allen and Cunneen. A screening bound: seats and cache are not in it.
    """
    load = service.plan.workload.load
    arrivals = {"constant": 0.0, "poisson": 1.0, "gamma": (load.cv or 1.0) ** 2}[load.process]
    size = service.mean_prefill_s
    sizes = [
        _prefill_of(service, item, (index + 0.5) / 8)
        for item in service.mix.classes
        for index in range(8 if item.prompt else 0)
    ]
    mean = math.fsum(sizes) / len(sizes) if sizes else size
    variation = math.fsum((value - mean) ** 2 for value in sizes) / len(sizes) / mean**2 if sizes and mean else 0.0
    waiting = busy / (1 - busy) * size * (arrivals + variation) / 2 if busy < 1 else math.inf
    tail = {
        name: (waiting / busy) * math.log(busy / (1 - level)) if busy > 1 - level else 0.0
        for name, level in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99))
    }
    return waiting, tail


def _thinking(service: Service, sessions: float, seats: float) -> Operating:
    """Closed loop with pauses: as many in the engine as sessions x residence / (residence + pause)."""
    pause = pause_s(service.plan)
    low, high = 1.0, max(sessions, 1.0)
    for _ in range(50):
        middle = (low + high) / 2
        found = _closed(service, middle, seats)
        residence = found.waiting_s + service.mean_prefill_s + max(service.mix.output - 1.0, 0.0) * found.itl_s
        low, high = (middle, high) if sessions * residence / (residence + pause) > middle else (low, middle)
    found = _closed(service, high, seats)
    residence = found.waiting_s + service.mean_prefill_s + max(service.mix.output - 1.0, 0.0) * found.itl_s
    return replace(found, rate_per_s=min(found.rate_per_s, sessions / (residence + pause)))


def _periodic(service: Service, seats: float) -> Operating:
    """A control loop: one inference for every `actions` periods, one at a time."""
    load = service.plan.workload.load
    found = _closed(service, 1.0, seats)
    rate = 1.0 / ((load.period_s or 1.0) * load.actions)
    return replace(found, rate_per_s=min(rate, found.rate_per_s), utilisation=rate / found.rate_per_s)


# ------------------------------------------------------------------ what it means for a request


def _latency(service: Service, operating: Operating, mix: Mix) -> Latency:
    decode = service.decode_split(operating.batch)
    step = service.decode_s(operating.batch)
    if not mix.has_prompt:
        gap = Percentiles(*(operating.itl_s,) * 6)
        return Latency(inter_token_latency_s=gap, time_per_output_token_s=gap, decode_step_s=step, decode=decode)
    new = max(mix.prompt - mix.cached, 1.0)
    prefill = service.prefill_split(new, mix.cached)
    alone = service.prefill_s(new, mix.cached)
    if operating.overloaded:
        return Latency(decode_step_s=step, prefill_s=alone, decode=decode, prefill=prefill)
    fixed = math.fsum(service.plan.workload.fixed_s.values())
    first = _first_token(service, operating, mix, fixed)
    tokens = Percentiles(*(operating.itl_s,) * 6) if mix.has_gaps else Percentiles()
    return Latency(
        time_to_first_token_s=first,
        inter_token_latency_s=_gaps(service, operating) if mix.has_gaps else Percentiles(),
        time_per_output_token_s=tokens,
        request_latency_s=_whole(service, operating, mix, fixed),
        session_latency_s=_session(service, operating, mix, fixed),
        completion_s=_completion(service, operating),
        decode_step_s=step,
        prefill_s=alone,
        decode=decode,
        prefill=prefill,
    )


def _prefill_of(service: Service, item: RequestClass, share: float | None) -> float:
    """Of a quantile of the prompts, or the mean one; of sessions the mean turn."""
    cached = cached_tokens(service.plan, item)
    if share is None or item.prompt is None or item.session is not None:
        return service.prefill_s(max(prompt_tokens(item) - cached, 1.0), cached)
    return service.prefill_s(max(quantile(item.prompt, share) + images(item) - cached, 1.0), cached)


def _mean(mix: Mix, figure: Mapping[str, float]) -> float:
    return math.fsum(share * figure[item.name] for share, item in zip(mix.shares, mix.classes, strict=True))


def _first_token(service: Service, operating: Operating, mix: Mix, fixed: float) -> Percentiles:
    mean = _mean(mix, {item.name: _prefill_of(service, item, None) for item in mix.classes})
    points = mixture_quantiles(mix, lambda item, share: _prefill_of(service, item, share))
    base = operating.waiting_s + fixed
    wait = {name: operating.waiting_p.get(name, operating.waiting_s) for name in points}
    if operating.waiting_p:
        wait["max"] = operating.waiting_p["p99"]
    return Percentiles(mean=base + mean, **{name: value + fixed + wait[name] for name, value in points.items()})


def _gaps(service: Service, operating: Operating) -> Percentiles:
    """Gaps between tokens: a plain step, or one that carries prompts; a budget cuts the longest."""
    plain = service.decode_s(operating.batch) / service.tokens_per_step
    extra = operating.itl_s - plain
    prefill = service.mean_prefill_s
    budget = service.plan.engine.max_num_batched_tokens
    if service.plan.techniques.chunked_prefill and budget and not service.step.ideal:
        prefill = min(prefill, service.prefill_s(float(budget)))
    if operating.mixed_s:  # one step does both
        share, longest = operating.mixed_share, max(operating.mixed_s, plain)
    else:
        share, longest = min(extra / prefill, 1.0) if prefill > 0 else 0.0, plain + max(prefill, extra)
    points = {
        name: longest if 1 - level < share else plain
        for name, level in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99))
    }
    return Percentiles(mean=operating.itl_s, **points, max=longest if share > 0 else plain)


def _whole(service: Service, operating: Operating, mix: Mix, fixed: float) -> Percentiles:
    """First token and the gaps after it."""

    def whole(item: RequestClass, share: float | None) -> float:
        output = (item.output.mean if share is None else quantile(item.output, share)) if item.output else 1.0
        return (
            _prefill_of(service, item, share) + max(output - 1.0, 0.0) * operating.itl_s + operating.waiting_s + fixed
        )

    mean = _mean(mix, {item.name: whole(item, None) for item in mix.classes})
    return Percentiles(mean=mean, **mixture_quantiles(mix, whole))


def _session(service: Service, operating: Operating, mix: Mix, fixed: float) -> Percentiles:
    """Turns one after another with their pauses; the context grows with each."""
    session = next((item.session for item in mix.classes if item.session), None)
    if session is None:
        return Percentiles()
    item = next(item for item in mix.classes if item.session is session)
    first = item.prompt.mean + images(item) if item.prompt else 0.0
    caching, total = service.plan.techniques.prefix_caching, 0.0
    for turn in range(min(session.turns, MOST_TURNS)):
        prompt = first + turn * growth_tokens(item)
        known = prompt - growth_tokens(item) + output_tokens(item) - 1.0 if turn else 0.0
        cached = min(known, prompt - 1.0) if caching else 0.0
        answer = max(mix.output - 1.0, 0.0) * operating.itl_s
        total += service.prefill_s(max(prompt - cached, 1.0), cached) + answer + operating.waiting_s + fixed
    return Percentiles(mean=total + session.turn_delay_s * max(session.turns - 1, 0))


def _completion(service: Service, operating: Operating) -> float | None:
    """Of a finite run: its requests over the rate."""
    requests = service.plan.workload.load.requests
    if requests is None:
        return None
    return requests / (operating.rate_per_s * engines_of(service.plan))


def _throughput(service: Service, operating: Operating, seats: float) -> Throughput:
    plan, mix = service.plan, service.mix
    ranks = engines_of(plan)
    cards = plan.hardware.count * max(1, plan.hardware.replicas.minimum)
    if not mix.has_prompt:
        rate = operating.batch / operating.itl_s * ranks
        return Throughput(
            output_tokens_per_s=rate,
            output_tokens_per_s_per_user=1.0 / operating.itl_s,
            output_tokens_per_s_per_accelerator=rate / cards,
        )
    requests = operating.rate_per_s * ranks
    peak = plan.workload.load.peak if plan.workload.load.kind == "rate" and not operating.overloaded else 1.0
    requests /= peak
    most = max(min(seats, 4096.0), 1.0)
    output = requests * mix.output
    return Throughput(
        output_tokens_per_s=output,
        total_tokens_per_s=requests * (mix.output + mix.prompt),
        requests_per_s=requests,
        output_tokens_per_s_per_user=1.0 / operating.itl_s if mix.has_gaps and not operating.overloaded else None,
        output_tokens_per_s_per_accelerator=output / cards,
        max_requests_per_s=ranks / service.request_s(most) * _more(plan),
        rejected_fraction=None if operating.overloaded else 0.0,
    )


def _more(plan: Plan) -> float:
    """How many times the replicas that serve there may be."""
    replicas = plan.hardware.replicas
    return max(replicas.most, replicas.minimum, 1) / max(replicas.minimum, 1)


def _scaled(total: Throughput, share: float, mix: Mix, operating: Operating) -> Throughput:
    requests = (total.requests_per_s or 0.0) * share
    return Throughput(
        output_tokens_per_s=requests * mix.output,
        total_tokens_per_s=requests * (mix.output + mix.prompt),
        requests_per_s=requests,
        output_tokens_per_s_per_user=total.output_tokens_per_s_per_user,
        rejected_fraction=total.rejected_fraction,
    )
