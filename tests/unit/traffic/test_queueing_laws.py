"""The simulation against queueing theory, and against its own books kept another way."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.physics.step import AttentionCost, StepCost
from planner.traffic.arrivals import Rise, times
from planner.traffic.engine import EngineSimulation, Limits
from planner.traffic.fleet import Fleet
from planner.traffic.population import Source
from planner.traffic.records import mean
from planner.traffic.request import Request
from planner.traffic.step_clock import StepClock

STEP_S = 0.010
FIXED = StepCost(0.0, 0.0, 0.0, 0.0, kernels_s=STEP_S)
GROWING = StepCost(
    0.0, 20e-6, 0.0, 0.0, attention=(AttentionCost(1e-6, 0.0, 1e-9),), kernels_s=STEP_S, exponent=math.inf
)
ALONE = Limits(budget_tokens=2048, seats=1)
WIDE = Limits(budget_tokens=2048, seats=256)


def served(cost: StepCost, limits: Limits, requests: list[Request]) -> EngineSimulation:
    engine = EngineSimulation(StepClock(cost, limits.budget_tokens), limits)
    for request in requests:
        engine.submit(request)
    engine.advance()
    return engine


def arriving(rate: float, count: int, seed: int, outputs: list[int], process: str = "poisson") -> list[Request]:
    arrivals = times(process, rate, 1.0, seed)
    return [Request(at, 100, output) for at, output in zip(arrivals, outputs[:count], strict=False)]


def waits(engine: EngineSimulation, warm: int = 2_000) -> list[float]:
    done = sorted(engine.done, key=lambda item: item.arrival_s)
    return [item.scheduled_s - item.arrival_s for item in done[warm:]]


# ------------------------------------------------------------------ one seat: M/G/1


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_exponential_answers_wait_as_in_m_m_1(load: float) -> None:
    """Mean wait = rho S / (1 - rho), S: 100 steps of 10 ms on average. Source: Erlang 1917.

    Steps are counted, so answers are geometric: E[S^2] = 2 E[S]^2 - E[S] steps, half a hundredth from exponential.
    """
    draw = random.Random(7)
    outputs = [1 + int(math.log(draw.random()) / math.log(1.0 - 1 / 100)) for _ in range(60_000)]
    service = mean([float(item) for item in outputs]) * STEP_S
    engine = served(FIXED, ALONE, arriving(load / service, 60_000, 1, outputs))
    assert mean(waits(engine)) == pytest.approx(load * service / (1.0 - load), rel=0.07)


@pytest.mark.parametrize("load", [0.5, 0.7])
def test_two_kinds_of_answers_wait_as_pollaczek_and_khinchine_say(load: float) -> None:
    """Nine of ten answers take 10 steps, one takes 410: E[S] = 50, E[S^2] = 0.9 x 100 + 0.1 x 168,100 = 16,900 steps.

    Mean wait = lambda E[S^2] / (2 (1 - rho)), over four runs: one alone is several hundredths off by chance.
    Source: Pollaczek 1930, Khinchine 1932.
    """
    ratios = []
    for seed in range(4):
        draw = random.Random(seed)
        outputs = [410 if draw.random() < 0.1 else 10 for _ in range(40_000)]
        moment = mean([(item * STEP_S) ** 2 for item in outputs])
        rate = load / (mean([float(item) for item in outputs]) * STEP_S)
        engine = served(FIXED, ALONE, arriving(rate, 40_000, seed, outputs))
        ratios.append(mean(waits(engine)) / (rate * moment / (2.0 * (1.0 - load))))
    assert mean(ratios) == pytest.approx(1.0, abs=0.06)


def test_steady_arrivals_below_capacity_never_wait() -> None:
    """D/D/1: one every 60 ms, each takes 50 ms."""
    engine = served(FIXED, ALONE, arriving(1 / 0.060, 2_000, 1, [5] * 2_000, "constant"))
    assert max(waits(engine, 0)) == pytest.approx(0.0, abs=1e-9)


def test_two_engines_with_one_queue_wait_as_in_m_m_2() -> None:
    """Least-loaded routing of M/M/2 comes near one queue: W = S rho^2 / (1 - rho^2) at least. Source: Erlang 1917."""
    draw = random.Random(5)
    outputs = [1 + int(math.log(draw.random()) / math.log(1.0 - 1 / 100)) for _ in range(30_000)]
    service, load = mean([float(item) for item in outputs]) * STEP_S, 0.7
    found = Fleet([EngineSimulation(StepClock(FIXED, 2048), ALONE) for _ in range(2)], router="least-loaded")
    found.run(Source(iter(arriving(2 * load / service, 30_000, 9, outputs))))
    everyone = sorted((item for engine in found.engines for item in engine.done), key=lambda item: item.arrival_s)
    waited = mean([item.scheduled_s - item.arrival_s for item in everyone[2_000:]])
    one_queue = service * load**2 / (1.0 - load**2)
    own_queues = service * load / (1.0 - load)
    assert one_queue * 0.93 < waited < 0.8 * own_queues


# ------------------------------------------------------------------ books kept another way


@settings(max_examples=40, deadline=None)
@given(
    rate=st.floats(5.0, 60.0),
    blocks=st.sampled_from([0, 80, 300]),
    seats=st.sampled_from([2, 16, 256]),
    kept=st.sampled_from([1.0, 1.7]),
    seed=st.integers(0, 999),
)
def test_little_and_the_books_of_the_cache(rate: float, blocks: int, seats: int, kept: float, seed: int) -> None:
    """The integral of sequences that run is the sum of the times that they ran (Little 1961).

    At any moment blocks in use are those of the sequences that run, and never more than there are.
    """
    limits = replace(WIDE, seats=seats, blocks=blocks, tokens_per_step=kept, proposed=2 if kept > 1 else 0)
    outputs = [1 + (index * 37) % 90 for index in range(150)]
    requests = arriving(rate, 150, seed, outputs)
    engine = EngineSimulation(StepClock(GROWING, 2048, width=3.0 if kept > 1 else 1.0), limits)
    for request in requests:
        engine.submit(request)
    now = 0.0
    while not engine.idle:
        now += 0.037
        engine.advance(now)
        running = [item for item in engine._running if item.running]
        assert engine.pool.used == sum(_blocks_of(engine, item) for item in running) <= engine.pool.total
        assert len(running) == engine._seated <= seats
    ran = math.fsum(item.finished_s - item.scheduled_s for item in engine.done if not item.rejected)
    if not engine.preemptions:  # who was preempted waits again, which is no running
        assert engine.occupancy.running_s == pytest.approx(ran, rel=1e-9)
    else:
        assert engine.occupancy.running_s < ran
    assert engine.busy_s <= engine.now + 1e-9


def _blocks_of(engine: EngineSimulation, request: Request) -> int:
    """ceil(tokens / block) of what it holds: its prompt while that is computed, what it has grown to afterwards."""
    pool, limits = engine.pool, engine.limits
    if request in engine._prefilling or request.fetching:
        return request.blocks
    kept = limits.tokens_per_step
    grown = math.floor(engine.iterations * kept) - math.floor(request.started * kept)
    return -(-(request.target + grown + limits.proposed) // pool.size)


@pytest.mark.parametrize("seed", range(6))
def test_denser_arrivals_fewer_blocks_or_slower_steps_wait_longer(seed: int) -> None:
    """The same requests, their arrivals closer together; then fewer blocks; then a slower card."""
    outputs = [1 + (index * 53) % 120 for index in range(1_500)]

    def first_tokens(density: float, blocks: int, slower: float) -> float:
        requests = arriving(1.0, 1_500, seed, outputs)
        spread = [Request(item.arrival_s / density, item.prompt, item.output) for item in requests]
        cost = replace(GROWING, linear_arithmetic_s=20e-6 * slower, kernels_s=STEP_S * slower)
        return mean([item.time_to_first_token_s for item in served(cost, replace(WIDE, blocks=blocks), spread).done])

    by_density = [first_tokens(density, 600, 1.0) for density in (10.0, 20.0, 30.0, 40.0)]
    by_blocks = [first_tokens(30.0, blocks, 1.0) for blocks in (2_000, 600, 300, 150)]
    by_card = [first_tokens(20.0, 600, slower) for slower in (0.5, 1.0, 1.5)]
    for grows in (by_density, by_blocks, by_card):
        assert all(right >= left * (1.0 - 1e-3) for left, right in pairwise(grows)), grows


# ------------------------------------------------------------------ a load that rises


def test_a_rise_by_hand() -> None:
    """One a second to 10 s, then within 10 s up to three a second: after x of those 10 + x + 2 x^2 / 20 have come.

    Half-way, at 15 s, 10 + 5 + 2.5; at its end 10 + 10 + 10, and three a second from then on.
    """
    rise = Rise(10.0, 10.0, 3.0)
    assert rise.at(7.0) == 7.0
    assert rise.at(17.5) == pytest.approx(15.0)
    assert rise.at(30.0) == pytest.approx(20.0)
    assert rise.at(36.0) == pytest.approx(22.0)
    assert Rise(10.0, 0.0, 3.0).at(13.0) == pytest.approx(11.0)


@given(even=st.floats(0.0, 200.0), ramp=st.floats(0.0, 50.0), factor=st.floats(1.0, 20.0))
def test_a_rise_keeps_the_order_and_never_delays(even: float, ramp: float, factor: float) -> None:
    rise = Rise(20.0, ramp, factor)
    assert rise.at(even) <= even * (1.0 + 1e-12)
    assert rise.at(even) <= rise.at(even + 0.5) + 1e-9
