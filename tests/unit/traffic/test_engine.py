"""The event simulation against queueing theory, hand-worked schedules and itself, one step at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.physics.step import AttentionCost, StepCost
from planner.traffic.arrivals import times
from planner.traffic.engine import EngineSimulation, Limits, steps_until
from planner.traffic.records import gap_quantile, mean
from planner.traffic.request import Request
from planner.traffic.step_clock import StepClock

# A step takes 10 ms whatever is in it, unless a test says otherwise.
FIXED = StepCost(0.0, 0.0, 0.0, 0.0, kernels_s=0.010)
# 10 ms, 20 us a token, 1 us for each cached token that is read.
GROWING = StepCost(
    0.0, 20e-6, 0.0, 0.0, attention=(AttentionCost(1e-6, 0.0, 1e-9),), kernels_s=0.010, exponent=math.inf
)
WIDE = Limits(budget_tokens=2048, seats=256)


def served(cost: StepCost, limits: Limits, requests: list[Request], **more: Any) -> EngineSimulation:
    engine = EngineSimulation(StepClock(cost, limits.budget_tokens, **more.pop("clock", {})), limits, **more)
    for request in requests:
        engine.submit(request)
    engine.advance()
    return engine


def poisson(rate: float, count: int, prompt: int = 100, output: int = 1, seed: int = 1) -> list[Request]:
    return [Request(at, prompt, output) for at, _ in zip(times("poisson", rate, 1.0, seed), range(count), strict=False)]


def test_one_request_by_hand() -> None:
    """A prompt of 100 in one step, then 4 decode steps: first token at 10 ms, last at 50 ms."""
    engine = served(FIXED, WIDE, [Request(1.0, 100, 5)])
    done = engine.done[0]
    assert done.time_to_first_token_s == pytest.approx(0.010)
    assert done.latency_s == pytest.approx(0.050)
    assert done.time_per_output_token_s == pytest.approx(0.010)


def test_a_prompt_longer_than_the_budget_takes_as_many_steps_as_chunks() -> None:
    """2048 + 2048 + 904 tokens: three steps. The decoding neighbour gets its token in each of them."""
    engine = served(FIXED, WIDE, [Request(0.0, 10, 20), Request(0.010, 5000, 2)])
    first, second = sorted(engine.done, key=lambda item: item.arrival_s)
    # The budget is shared with one decode: 2047 + 2047 + 906.
    assert second.time_to_first_token_s == pytest.approx(0.030)
    assert first.latency_s == pytest.approx(0.200)


def test_seats_are_given_first_come_first_served() -> None:
    """One seat: each request takes 3 steps, the third waits for two of them."""
    engine = served(FIXED, replace(WIDE, seats=1), [Request(0.0, 10, 3) for _ in range(3)])
    assert [item.time_to_first_token_s for item in engine.done] == pytest.approx([0.010, 0.040, 0.070])


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_waiting_is_that_of_pollaczek_and_khinchine(load: float) -> None:
    """One seat and one token: M/D/1, mean wait = rho S / (2 (1 - rho)).

    Source: Pollaczek 1930, Khinchine 1932.
    """
    service = 0.010
    engine = served(FIXED, replace(WIDE, seats=1), poisson(load / service, 60_000))
    waits = [item.time_to_first_token_s - service for item in engine.done[2_000:]]
    assert mean(waits) == pytest.approx(load * service / (2.0 * (1.0 - load)), rel=0.05)


def test_little_holds_for_cache_and_requests() -> None:
    """Mean requests in the engine = rate x mean time in it, over a run that begins and ends empty."""
    engine = served(GROWING, WIDE, poisson(20.0, 4_000, output=50))
    inside = math.fsum(item.latency_s for item in engine.done) / engine.now
    assert inside == pytest.approx(len(engine.done) / engine.now * mean([item.latency_s for item in engine.done]))
    # Tokens written by the gap records are those of the requests, first tokens left out.
    written = math.fsum(count * weight for _, _, count, weight in engine.gaps.stretches())
    assert written == 4_000 * 49


def test_blocks_are_given_back() -> None:
    limits = replace(WIDE, blocks=400, block_tokens=16)
    engine = served(GROWING, limits, poisson(50.0, 2_000, prompt=200, output=60))
    assert engine.preemptions > 0
    assert engine.pool.used == 0 and engine.pool.growing == 0 and set(engine.pool.phases) == {0}
    assert len(engine.done) == 2_000 and not any(item.rejected for item in engine.done)


def test_reserving_the_maximum_never_preempts() -> None:
    limits = replace(WIDE, blocks=400, reserve_maximum=True)
    requests = poisson(50.0, 1_000, prompt=200, output=60)
    for item in requests:
        item.reserved = 200
    engine = served(GROWING, limits, requests)
    assert engine.preemptions == 0 and engine.pool.used == 0
    # 400 blocks over ceil((200 + 200)/16) = 25 blocks a request: sixteen at once.
    assert engine.occupancy.most_running == 16


def test_a_request_that_can_never_fit_is_turned_away() -> None:
    engine = served(FIXED, replace(WIDE, blocks=10), [Request(0.0, 200, 5), Request(0.0, 100, 5)])
    assert sorted(item.rejected for item in engine.done) == ["", "longer than the cache"]


def test_queue_limit_and_time_out() -> None:
    """One seat, ten steps a request: of four at once one runs, one waits, two find the queue full."""
    limits = replace(WIDE, seats=1, queue=1)
    engine = served(FIXED, limits, [Request(0.0, 10, 10), *(Request(0.001, 10, 10) for _ in range(3))])
    assert sum(item.rejected == "queue is full" for item in engine.done) == 2
    patient = served(FIXED, replace(WIDE, seats=1, queue_s=0.05), [Request(0.0, 10, 10) for _ in range(2)])
    assert [item.rejected for item in patient.done] == ["", "waited too long"]


def test_shared_prefix_is_computed_once_and_held_once() -> None:
    """Prompts of 1000 of which 960 are shared: the second computes 40, in a step of 10 ms + 20 us each."""
    limits = replace(WIDE, blocks=100)
    shared = (("system", 960),)
    requests = [Request(0.0, 1000, 2, prefixes=shared), Request(1.0, 1000, 2, prefixes=shared)]
    engine = served(StepCost(0.0, 20e-6, 0.0, 0.0, kernels_s=0.010), limits, requests)
    first, second = engine.done
    assert (first.found, second.found) == (0, 960)
    assert first.time_to_first_token_s == pytest.approx(0.010 + 1000 * 20e-6)
    assert second.time_to_first_token_s == pytest.approx(0.010 + 40 * 20e-6)
    assert engine.prefixes.resident == {"system": 60} and engine.pool.used == 0


def test_a_prompt_that_ends_inside_a_shared_prefix_takes_nothing_of_it_away() -> None:
    """960 tokens are shared; a prompt of 500 holds 31 blocks of their 60 (496 tokens), alone and beside others."""
    limits = replace(WIDE, blocks=200)
    sizes = (1000, 500, 1000, 500, 1000, 1000)
    arrivals = (0.0, 1.0, 2.0, 3.0, 3.01, 3.02)  # the fourth is still being answered when the last two come
    requests = [
        Request(at, size, 40 if at == 3.0 else 2, prefixes=(("system", min(960, size - 1)),))
        for at, size in zip(arrivals, sizes, strict=True)
    ]
    engine = served(FIXED, limits, requests)
    assert [item.found for item in sorted(engine.done, key=lambda item: item.arrival_s)] == [0, 496, 960, 496, 960, 960]
    assert engine.prefixes.resident == {"system": 60} and engine.prefixes.resident_blocks == 60
    assert engine.pool.used == 0 and not engine.prefixes.held


def test_the_least_recently_used_prefix_goes_first_and_from_its_end() -> None:
    """A cache of 20 blocks: after 'a' (8 blocks) and 'b' (8), 'c' takes 8 + 1: of 'a' 5 are lost, 3 stay."""
    limits = replace(WIDE, blocks=20)
    requests = [
        Request(float(index), 130, 2, prefixes=((name, 128),)) for index, name in enumerate(("a", "b", "c", "a"))
    ]
    engine = served(FIXED, limits, requests)
    assert [item.found for item in engine.done] == [0, 0, 0, 48]


def test_gaps_are_told_apart_by_owner() -> None:
    """Owner 0 alone: 9 gaps of 10 ms, then 10 with a prompt of 1000 in one of them: 10 ms and 20 us x 1000 = 30 ms.

    Owner 1 comes after, so none of its four gaps is long.
    """
    engine = EngineSimulation(StepClock(LINEAR, 2048), WIDE, owners=2)
    engine.submit(Request(0.0, 10, 20, owner=0))
    engine.submit(Request(0.095, 1000, 5, owner=1))
    engine.advance()
    own = [gaps.stretches() for gaps in engine.gaps_of]
    assert [sum(count * weight for _, _, count, weight in rows) for rows in own] == [19, 4]
    assert max(first for first, _, _, _ in own[0]) == pytest.approx(0.030 + 2 * 20e-6, abs=3e-5)
    assert max(first for first, _, _, _ in own[1]) < 0.0101
    both = sorted(row for rows in own for row in rows)
    assert sum(count * weight for _, _, count, weight in engine.gaps.stretches()) == 23
    assert {row[0] for row in both} == {row[0] for row in engine.gaps.stretches()}


# 10 ms and 20 us a token, whatever is read.
LINEAR = StepCost(0.0, 20e-6, 0.0, 0.0, kernels_s=0.010)


def two_turns(host_blocks: int, blocks: int, fetch_s: float = 1e-6) -> EngineSimulation:
    """Two contexts of 1000 tokens by turns, each sent again with 200 more."""
    limits = replace(WIDE, blocks=blocks, host_blocks=host_blocks, fetch_s=fetch_s)
    requests = [
        Request(float(at), 1000 if at < 2 else 1200, 2, prefixes=((name, 1000),) if at > 1 else (), kept=name)
        for at, name in enumerate("abab")
    ]
    return served(LINEAR, limits, requests)


def test_what_the_cache_has_dropped_is_fetched_from_the_host() -> None:
    """80 blocks hold one context of 63. Of its 62 whole blocks, 992 tokens, those that the other context took are
    fetched at 1 us a token, and 208 tokens are computed. Without a host what was taken is computed too.
    """
    engine = two_turns(200, 80)
    again = [item for item in engine.done if item.prompt == 1200]
    for item in again:
        assert item.found == 992 and item.fetched >= 700
        assert item.time_to_first_token_s == pytest.approx(item.fetched * 1e-6 + 0.010 + 208 * 20e-6)
    alone = [item for item in two_turns(0, 80).done if item.prompt == 1200]
    for item, without in zip(again, alone, strict=True):
        assert without.fetched == 0 and without.found == item.found - item.fetched
        assert without.time_to_first_token_s == pytest.approx(0.010 + (1200 - without.found) * 20e-6)


def test_nothing_is_fetched_where_nothing_was_dropped() -> None:
    with_host, alone = two_turns(200, 400), two_turns(0, 400)
    assert [item.fetched for item in with_host.done] == [0, 0, 0, 0]
    assert [item.finished_s for item in with_host.done] == [item.finished_s for item in alone.done]


def test_a_slow_link_only_adds_latency() -> None:
    """100 us a token over the link, 20 us to compute it."""
    slow = [item for item in two_turns(200, 80, 100e-6).done if item.prompt == 1200]
    alone = [item for item in two_turns(0, 80).done if item.prompt == 1200]
    for item, without in zip(slow, alone, strict=True):
        more = item.fetched * (100e-6 - 20e-6)
        assert item.time_to_first_token_s == pytest.approx(without.time_to_first_token_s + more)


def test_the_host_drops_the_least_recently_used_from_its_end() -> None:
    """Of 100 blocks: 'a' 62, then 'b' 62 leave 38 of 'a'."""
    assert two_turns(100, 80).prefixes.host_used == 100
    engine = EngineSimulation(StepClock(LINEAR, 2048), replace(WIDE, blocks=80, host_blocks=100, fetch_s=1e-6))
    for at, name in enumerate("ab"):
        engine.submit(Request(float(at), 1000, 2, kept=name))
    engine.advance()
    assert dict(engine.prefixes.host) == {"a": 38, "b": 62}


def test_others_decode_while_one_waits_for_the_link() -> None:
    """A prompt that another engine has computed: 999 tokens at 100 us each take 99.9 ms, its neighbour goes on."""
    limits = replace(WIDE, fetch_s=100e-6)
    engine = served(FIXED, limits, [Request(0.0, 10, 30), Request(0.015, 1000, 5, remote=999)])
    first, second = sorted(engine.done, key=lambda item: item.arrival_s)
    assert first.latency_s == pytest.approx(0.300)
    # Admitted at 20 ms, fetched at 119.9 ms, in the step that begins at 120 ms: its first token at 130 ms.
    assert second.first_token_s == pytest.approx(0.130) and second.finished_s == pytest.approx(0.170)


def test_the_link_serves_one_after_another() -> None:
    """Two prompts of 1000 at once: 99.9 ms each, so the second is there at 199.8 ms."""
    limits = replace(WIDE, fetch_s=100e-6)
    engine = served(FIXED, limits, [Request(0.0, 1000, 1, remote=999) for _ in range(2)])
    assert [item.first_token_s for item in engine.done] == pytest.approx([0.1099, 0.2098])


def test_speculation_keeps_its_mean_tokens_a_step() -> None:
    """2.5 tokens a step: 51 tokens after the first... 50 / 2.5 = 20 decode steps."""
    limits = replace(WIDE, tokens_per_step=2.5, proposed=4)
    engine = served(FIXED, limits, [Request(0.0, 100, 51)], clock={"width": 5.0})
    assert engine.done[0].latency_s == pytest.approx(0.010 + 20 * 0.010)


costs = st.sampled_from(
    [
        FIXED,
        GROWING,
        replace(GROWING, captured=False, launch_s=0.012),
        replace(GROWING, attention=(AttentionCost(1e-6, 0.0, 1e-9, window=256.0), AttentionCost(5e-7, 0.0, 0.0))),
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    cost=costs,
    rate=st.floats(1.0, 60.0),
    blocks=st.sampled_from([0, 60, 200]),
    kept=st.sampled_from([1.0, 1.6, 2.77]),
    seats=st.sampled_from([4, 32, 256]),
    seed=st.integers(0, 1000),
    maximum=st.booleans(),
    fetch_s=st.sampled_from([0.0, 1.37e-5, 1.37e-4]),
)
def test_skipping_gives_what_single_steps_give(
    cost: StepCost, rate: float, blocks: int, kept: float, seats: int, seed: int, maximum: bool, fetch_s: float
) -> None:
    limits = Limits(
        512, seats, blocks, 16, reserve_maximum=maximum, tokens_per_step=kept, proposed=int(kept * 2) - 2,
        host_blocks=100, fetch_s=fetch_s,
    )  # fmt: skip
    runs = []
    for skip in (True, False):
        requests = poisson(rate, 120, prompt=150, output=80, seed=seed)
        for index, item in enumerate(requests):
            item.output = 1 + (index * 37) % 150
            item.prompt = 20 + (index * 91) % 700
            if fetch_s and index % 3 == 0:
                item.remote = item.prompt - 1
            elif fetch_s:
                item.kept = item.session = index % 7
                item.prefixes = ((item.kept, item.prompt - 1),)
        clock = {"width": 1.0 + limits.proposed}
        runs.append(served(cost, limits, requests, skip=skip, clock=clock))
    fast, slow = runs
    assert fast.preemptions == slow.preemptions and fast.iterations == slow.iterations
    assert fast.strides <= slow.strides
    for one, other in zip(fast.done, slow.done, strict=True):
        assert one.arrival_s == other.arrival_s and one.rejected == other.rejected
        if not one.rejected:
            assert one.finished_s == pytest.approx(other.finished_s, rel=1e-12, abs=1e-9)
            assert one.first_token_s == pytest.approx(other.first_token_s, rel=1e-12, abs=1e-9)
    if fast.gaps.rows:
        for level in (0.5, 0.9, 0.99):
            pair = [gap_quantile(run.gaps.stretches(), level) for run in runs]
            assert pair[0] == pytest.approx(pair[1], rel=1e-9)
    assert fast.pool.used == 0 and fast.pool.growing == 0


@pytest.mark.parametrize("factor", [0.5, 0.8])
def test_a_faster_card_serves_no_later(factor: float) -> None:
    slow = served(GROWING, replace(WIDE, blocks=600), poisson(40.0, 1_000, output=60))
    quick = replace(GROWING, linear_arithmetic_s=20e-6 * factor, kernels_s=0.010 * factor)
    fast = served(quick, replace(WIDE, blocks=600), poisson(40.0, 1_000, output=60))
    assert mean([item.latency_s for item in fast.done]) < mean([item.latency_s for item in slow.done])


def test_more_requests_or_fewer_blocks_never_shorten_the_wait() -> None:
    waits = [
        mean([item.time_to_first_token_s for item in served(GROWING, limits, poisson(rate, 1_500, output=60)).done])
        for rate, limits in (
            (20.0, replace(WIDE, blocks=600)),
            (40.0, replace(WIDE, blocks=600)),
            (40.0, replace(WIDE, blocks=200)),
        )
    ]
    assert waits == sorted(waits)


def test_a_failed_engine_gives_back_what_it_had() -> None:
    engine = EngineSimulation(StepClock(FIXED, 2048), replace(WIDE, blocks=100, seats=1))
    for index in range(3):
        engine.submit(Request(0.0, 10, 100 + index))
    engine.advance(0.5)
    lost = engine.withdraw()
    assert [item.output for item in lost] == [100, 101, 102] and engine.idle and engine.pool.used == 0


@pytest.mark.parametrize(
    ("duration", "first", "rise", "steps"),
    # 10 ms each; then 10, 11, 12, ... ms: 10 + 11 = 21, + 12 = 33
    [(0.0301, 0.010, 0.0, 4), (0.0299, 0.010, 0.0, 3), (0.0209, 0.010, 0.001, 2), (0.0211, 0.010, 0.001, 3)],
)
def test_steps_until(duration: float, first: float, rise: float, steps: int) -> None:
    assert steps_until(duration, first, rise) == steps
