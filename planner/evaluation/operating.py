"""Where one data-parallel rank works, and how the measured step finds it for closed and open loops."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from planner.evaluation import measured_step
from planner.physics import serving
from planner.physics.serving import Engine, Requests, Steady
from planner.physics.step import StepCost

if TYPE_CHECKING:
    from planner.evaluation.service import Service

LEVELS = (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99))
MOST_SEATS = 4096.0


@dataclass(frozen=True, slots=True)
class Operating:
    """Where one data-parallel rank works. batch: sequences that decode together. waiting_s: before the prefill.

    utilisation: offered over served. overloaded: the queue grows without bound. rate_per_s: requests, this rank.
    mixed_s, mixed_share: a step with prompt tokens, and the share of steps that have some; 0 where they are not known.
    """

    batch: float
    itl_s: float
    waiting_s: float
    waiting_p: Mapping[str, float] = field(default_factory=dict)
    rate_per_s: float = 0.0
    utilisation: float = 1.0
    overloaded: bool = False
    mixed_s: float = 0.0
    mixed_share: float = 0.0


def requests_of(service: Service) -> Requests:
    """The mean request of the mix: what is new of its prompt, what the cache holds, its answer."""
    mix = service.mix
    return Requests(max(mix.prompt - mix.cached, 1.0), mix.cached, mix.output)


def engine_of(service: Service, seats: float, batch: float) -> Engine:
    """The engine's way with steps; drafting as it is at `batch`."""
    engine = measured_step.engine_of(service.plan, seats, requests_of(service).prompt)
    return replace(engine, seats=seats, draft_s=service.drafting_s(batch), prompt_extra_s=service.prompt_extra_s)


def steady(service: Service, cost: StepCost, concurrency: float, seats: float) -> Steady:
    """The closed loop of `concurrency` requests."""
    engine = engine_of(service, seats, max(min(concurrency, seats), 1.0))
    return serving.closed_loop(cost, requests_of(service), engine, concurrency)


def engine_s(service: Service, found: Steady) -> float:
    """Engine time of one request. A batch that waits for its longest answer is part idle: its steps, not its
    prefills, are spread over fewer sequences."""
    steps = max(service.mix.output - 1.0, 0.0) / service.tokens_per_step * found.decode_s / found.in_use
    return float(1.0 / found.rate_per_s + steps * (1.0 / service.fill - 1.0))


def closed(service: Service, cost: StepCost, concurrency: float, seats: float, requests: float | None) -> Operating:
    """A closed loop for ever, or of `requests` in all, of which the first `concurrency` come at once."""
    found = steady(service, cost, concurrency, seats)
    asked, engine = requests_of(service), engine_of(service, seats, found.in_use)
    alone = serving.prefill_s(cost, asked, engine)
    if service.plan.workload.load.kind == "offline":
        return _at(found, found.first_token_s - alone, 1.0 / engine_s(service, found))
    rate = 1.0 / engine_s(service, found)
    if requests is None:
        return _at(found, found.first_token_s - alone, rate)
    burst = serving.burst_first_token_s(cost, asked, engine, concurrency, found.rate_per_s)
    if requests <= concurrency:
        batch_s = serving.static_batch_s(cost, asked, engine, min(concurrency, seats))
        rate = concurrency / (batch_s * max(concurrency / seats, 1.0))
        # A prompt interrupts those before it only: half of the others on average.
        gap = (found.gap_s + found.decode_s / service.tokens_per_step) / 2.0
        return replace(_at(found, burst - alone, rate), itl_s=gap)
    share = concurrency / requests
    mean = share * burst + (1.0 - share) * found.first_token_s
    tails = {name: _mixed(level, share, burst, found.first_token_s) - alone for name, level in LEVELS}
    return replace(_at(found, mean - alone, rate), waiting_p={k: max(v, 0.0) for k, v in tails.items()})


def _mixed(level: float, share: float, burst: float, after: float) -> float:
    """A quantile of the mixture: the burst's first tokens come evenly from 0 to twice their mean."""
    return after if level <= 1.0 - share else max(after, 2.0 * burst * (level - 1.0 + share) / share)


def _at(found: Steady, waiting_s: float, rate_per_s: float) -> Operating:
    return Operating(
        found.batch, found.gap_s, max(waiting_s, 0.0), {}, rate_per_s, mixed_s=found.mixed_s, mixed_share=found.busy
    )


def opened(service: Service, cost: StepCost, rate_per_s: float, seats: float, stable: float) -> Operating:
    """Arrivals at a rate. Overloaded where the closed loop of all seats serves less."""
    most = min(seats, MOST_SEATS)
    full = steady(service, cost, most, most)
    served = 1.0 / engine_s(service, full)
    utilisation = rate_per_s / served
    engine = engine_of(service, most, 1.0)
    asked = requests_of(service)
    found = serving.open_loop(cost, asked, engine, rate_per_s) if utilisation < stable else None
    if found is None:
        return Operating(most, full.gap_s, math.inf, {}, served, max(utilisation, 1.0), True)
    waiting = found.first_token_s - serving.prefill_s(cost, asked, engine)
    return Operating(
        found.batch, found.gap_s, max(waiting, 0.0), {}, rate_per_s, utilisation,
        mixed_s=found.mixed_s, mixed_share=found.busy,
    )  # fmt: skip
