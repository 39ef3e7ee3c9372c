"""Several engines behind a router: who gets what, and nothing is lost or served twice whatever happens."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.physics.step import AttentionCost, StepCost
from planner.traffic.autoscaler import Autoscaler, Scaling
from planner.traffic.engine import EngineSimulation, Limits
from planner.traffic.fleet import ROUTERS, Fleet, Outage, Rollout
from planner.traffic.population import Kind, Source, closed_loop, open_loop
from planner.traffic.records import mean
from planner.traffic.request import Request
from planner.traffic.step_clock import StepClock

# A step takes 10 ms whatever is in it; or 10 ms, 20 us a token and 1 us for each cached token that is read.
FIXED = StepCost(0.0, 0.0, 0.0, 0.0, kernels_s=0.010)
GROWING = StepCost(
    0.0, 20e-6, 0.0, 0.0, attention=(AttentionCost(1e-6, 0.0, 1e-9),), kernels_s=0.010, exponent=math.inf
)
WIDE = Limits(budget_tokens=2048, seats=64)


def fleet(count: int, cost: StepCost = FIXED, limits: Limits = WIDE, skip: bool = True, **more: Any) -> Fleet:
    clock = StepClock(cost, limits.budget_tokens)
    return Fleet([EngineSimulation(clock, limits, skip=skip) for _ in range(count)], **more)


def listed(requests: list[Request]) -> Source:
    return Source(iter(requests))


def served(found: Fleet) -> list[list[int]]:
    """Prompt lengths by engine, which stand for who a request is."""
    return [sorted(item.prompt for item in engine.done) for engine in found.engines]


def everyone(found: Fleet) -> list[Request]:
    return [item for engine in found.engines for item in engine.done]


# ------------------------------------------------------------------ routing


def test_each_in_turn() -> None:
    found = fleet(3)
    found.run(listed([Request(0.001 * index, 10 + index, 5) for index in range(7)]))
    assert served(found) == [[10, 13, 16], [11, 14], [12, 15]]


def test_the_least_loaded_gets_the_next() -> None:
    """A long answer (1 s) keeps engine 0 busy; the short ones (20 ms) that come every 100 ms go to engine 1."""
    found = fleet(2, router="least-loaded")
    found.run(listed([Request(0.0, 10, 100), *(Request(0.1 * index, 10 + index, 2) for index in range(1, 6))]))
    assert served(found) == [[10], [11, 12, 13, 14, 15]]


def test_least_loaded_waits_less_than_in_turn_where_answers_differ() -> None:
    """Every second answer is long. In turn, all long ones come to one engine of two."""
    waits = []
    for router in ("round-robin", "least-loaded"):
        found = fleet(2, limits=replace(WIDE, seats=4), router=router)
        found.run(listed([Request(0.05 * index, 100, 60 if index % 2 else 2) for index in range(400)]))
        waits.append(mean([item.time_to_first_token_s for item in everyone(found)]))
    assert waits[1] < waits[0] / 2


def test_a_prefix_is_sought_where_it_is_held() -> None:
    """Two system prompts of 960 tokens by turns, one request at a time: each finds its own engine again.

    In turn, four requests of a, b, b, a meet: a on 0, b on 1, b on 0, a on 1. Nothing is found.
    """
    requests = [Request(float(at), 1000, 2, prefixes=((name, 960),)) for at, name in enumerate("abba")]
    limits = replace(WIDE, blocks=1000)
    aware = fleet(2, limits=limits, router="prefix-aware")
    aware.run(listed(requests))
    assert sorted((item.arrival_s, item.found) for item in everyone(aware)) == [(0, 0), (1, 0), (2, 960), (3, 960)]
    turns = fleet(2, limits=limits)
    turns.run(listed([Request(float(at), 1000, 2, prefixes=((name, 960),)) for at, name in enumerate("abba")]))
    assert [item.found for item in everyone(turns)] == [0, 0, 0, 0]


def test_a_prefix_does_not_bind_where_the_queue_is_longest() -> None:
    """Half of the prompt is cached on engine 0: 3 x 0.5 against 2 of the shortest queue."""
    limits = replace(WIDE, seats=2, blocks=1000)
    first = [Request(0.0, 192, 2, prefixes=(("a", 96),))]
    burst = [Request(1.0 + 0.001 * at, 192, 500, prefixes=(("a", 96),)) for at in range(4)]
    found = fleet(2, limits=limits, router="prefix-aware")
    found.run(listed([*first, *burst]))
    # The first of the burst goes to engine 0 and the second while it waits for its first step to engine 1.
    assert [len(engine.done) for engine in found.engines] == [3, 2]


SESSIONS = Kind([400.0], [20.0], turns=6, delay_s=0.5, growth=100, caching=True)


def test_turns_of_a_session_find_their_context_where_it_is() -> None:
    """Turns of 400, 500, ... 900 tokens whose answer of 20 (19 cached) is in the next: known 419, 519, ... 819.

    26, 32, 38, 44, 51 whole blocks of 16: 3056 of 3900 tokens, where each turn comes to the engine of the last. In
    turn it comes to one that has at most an older context.
    """
    rates = {}
    for router in ROUTERS:
        found = fleet(3, GROWING, replace(WIDE, blocks=4000), router=router)
        found.run(closed_loop([SESSIONS], 9, 60, seed=1))
        done = everyone(found)
        rates[router] = sum(item.found for item in done) / sum(item.prompt for item in done)
    assert rates["prefix-aware"] == pytest.approx(3056 / 3900, rel=0.04)
    assert rates["round-robin"] < 0.85 * rates["prefix-aware"]


# ------------------------------------------------------------------ failures


def test_what_a_lost_engine_had_begins_anew_elsewhere() -> None:
    """Ten steps of 10 ms; engine 1 is lost after 45 ms. Its request runs anew: done at 45 + 5 (a step ends) + 100.

    Engine 0 is in its fifth step at 45 ms, and takes the request in after it, at 50 ms.
    """
    found = fleet(2, outages=[Outage((1,), 0.045)])
    found.run(listed([Request(0.0, 10, 10), Request(0.0, 11, 10)]))
    assert served(found) == [[10, 11], []]
    first, second = sorted(everyone(found), key=lambda item: item.prompt)
    assert first.latency_s == pytest.approx(0.100)
    assert second.latency_s == pytest.approx(0.150)


def test_where_nothing_serves_requests_wait_until_something_does() -> None:
    found = fleet(1, outages=[Outage((0,), 0.005, 2.0)])
    found.run(listed([Request(0.0, 10, 5), Request(1.0, 11, 5)]))
    assert [item.latency_s for item in everyone(found)] == pytest.approx([2.050, 1.050])
    for_ever = fleet(2, outages=[Outage((0, 1), 0.005)])
    for_ever.run(listed([Request(0.0, 10, 5), Request(1.0, 11, 5)]))
    assert [item.rejected for item in everyone(for_ever)] == ["nothing serves"] * 2


def test_a_rollout_replaces_one_after_another_and_loses_nothing() -> None:
    """Each answer takes 1 s, so a drain ends within a second and a replica is away 10 s after it: 3 x 11 s at most."""
    found = fleet(3, rollout=Rollout(5.0, 1, 10.0))
    found.run(listed([Request(0.25 * index, 10 + index, 100) for index in range(200)]))
    assert sorted(number for part in served(found) for number in part) == list(range(10, 210))
    assert all(item.latency_s == pytest.approx(1.0, abs=0.011) for item in everyone(found))
    assert {serving for _, serving, _ in found.serving_s} == {2, 3}
    assert 35.0 < found.rolled_s < 38.1


def test_grace_ends_what_is_not_done() -> None:
    """An answer of 100 s, 30 s of grace: it begins anew when the grace ends."""
    found = fleet(2, rollout=Rollout(1.0, 1, 5.0))
    found.run(listed([Request(0.0, 10, 10_000), *(Request(float(at), 11 + at, 2) for at in range(1, 60))]))
    (long,) = (item for item in everyone(found) if item.prompt == 10)
    # Engine 0 drains from 1 s to 31 s, serves again at 36 s; then engine 1 with the answer drains from 36 s to 66 s.
    assert long.finished_s > 31.0 + 100.0


# ------------------------------------------------------------------ scaling


def test_replicas_wanted_by_hand() -> None:
    """40 requests, 10 wanted in each: 4. Two run, so two are added. Down only after 300 s of wanting fewer."""
    scaler = Autoscaler(Scaling(1, 60.0, 10.0), maximum=6)
    assert scaler.decide(0.0, 40.0, 2) == 4
    assert scaler.decide(15.0, 43.0, 4) == 4  # within a tenth
    assert scaler.decide(30.0, 500.0, 4) == 6  # no more than there are
    assert scaler.decide(45.0, 12.0, 6) == 6  # six were wanted a moment ago
    assert [scaler.decide(45.0 + 15.0 * look, 12.0, 6) for look in (19, 20, 21)] == [6, 2, 2]


def test_no_more_are_added_at_once_than_run_or_four() -> None:
    assert Autoscaler(Scaling(1, 60.0, 1.0), maximum=100).decide(0.0, 90.0, 1) == 5
    assert Autoscaler(Scaling(1, 60.0, 1.0), maximum=100).decide(0.0, 90.0, 10) == 20


def test_a_new_replica_serves_after_its_start_and_stops_when_it_is_done() -> None:
    """One seat and 1 s an answer: 2 requests a second need more than one replica. At the first look, after 15 s, 30
    have come and 15 are done: 15 wait or run, two are wanted in each: more than 4 + 1. They serve at 15 + 40 s."""
    requests = [Request(0.5 * index, 10, 100) for index in range(400)] + [Request(900.0, 11, 2)]
    found = fleet(4, limits=replace(WIDE, seats=1), router="least-loaded", scaling=Scaling(1, 40.0, 2.0))
    found.run(listed(requests))
    assert len(everyone(found)) == 401
    rose = next(time for time, serving, _ in found.serving_s if serving > 1)
    paid = next(time for time, _, paying in found.serving_s if paying > 1)
    assert (paid, rose) == (15.0, 55.0)
    # The last arrives at 200 s; fewer are wanted for 300 s before any stops.
    assert found.serving_s[-1][1:] == (1, 1)
    assert all(one[0] <= other[0] for one, other in pairwise(found.serving_s))


# ------------------------------------------------------------------ pools of their own


def pools(prefills: int, decodes: int, cost: StepCost = FIXED, fetch_s: float = 0.0, **more: Any) -> Fleet:
    clock = StepClock(cost, WIDE.budget_tokens)
    alone = [EngineSimulation(clock, WIDE) for _ in range(prefills)]
    answering = [EngineSimulation(clock, replace(WIDE, fetch_s=fetch_s)) for _ in range(decodes)]
    return Fleet([*alone, *answering], prefills=prefills, **more)


def test_a_prompt_is_computed_handed_over_and_answered() -> None:
    """10 ms for the prompt, 999 tokens at 10 us to fetch, 10 ms for the first token, four more."""
    found = pools(1, 1, fetch_s=10e-6)
    found.run(listed([Request(0.0, 1000, 5)]))
    (only,) = found.engines[1].done
    assert only.first_token_s == pytest.approx(0.010 + 0.00999 + 0.010)
    assert only.finished_s == pytest.approx(0.010 + 0.00999 + 0.050)


def test_no_prompt_falls_between_the_tokens_of_an_answer() -> None:
    """Steps of 10 ms and 20 us a token: a prompt of 1000 takes 30 ms, which stretch a gap unless it is apart."""
    linear = StepCost(0.0, 20e-6, 0.0, 0.0, kernels_s=0.010)
    requests = [Request(0.05 * index, 1000, 50) for index in range(40)]
    apart, together = pools(1, 1, linear), fleet(2, linear)
    together.run(listed([Request(item.arrival_s, item.prompt, item.output) for item in requests]))
    apart.run(listed(requests))
    longest = max(first for first, _, _, _ in apart.engines[1].gaps.stretches())
    assert longest < 0.010 + 40 * 20e-6 + 1e-9
    assert max(first for first, _, _, _ in together.engines[0].gaps.stretches()) > 0.030
    # The first token waits for both pools: it cannot be sooner than prompt and step.
    assert all(item.time_to_first_token_s >= 0.040 for item in apart.engines[1].done)


@settings(max_examples=30, deadline=None)
@given(
    router=st.sampled_from(ROUTERS),
    kind=st.sampled_from(["open", "closed"]),
    prefills=st.integers(1, 3),
    decodes=st.integers(1, 3),
    fetch_s=st.sampled_from([0.0, 1.37e-5]),
    seed=st.integers(0, 999),
)
def test_pools_conserve_requests(
    router: str, kind: str, prefills: int, decodes: int, fetch_s: float, seed: int
) -> None:
    """Every request passes one engine of each pool, once; skipping gives what single steps give."""
    runs = []
    for skip in (True, False):
        found = pools(prefills, decodes, GROWING, fetch_s, router=router)
        for engine in found.engines:
            engine.skip = skip
        found.run(traffic(kind, seed)[0])
        parts = [item.whole for engine in found.engines[:prefills] for item in engine.done]
        answers = [item for engine in found.engines[prefills:] for item in engine.done]
        assert Counter(map(id, parts)) == Counter(map(id, answers))
        assert all(engine.idle and engine.pool.used == 0 for engine in found.engines)
        assert all(item.arrival_s <= item.scheduled_s < item.ready_s < item.first_token_s for item in answers)
        runs.append(sorted((item.owner, item.session, item.turn, item.finished_s) for item in answers))
    for one, other in zip(*runs, strict=True):
        assert one[:3] == other[:3] and one[3] == pytest.approx(other[3], rel=1e-12, abs=1e-9)


# ------------------------------------------------------------------ laws


KINDS = [SESSIONS, Kind([150.0, 700.0], [5.0, 40.0, 90.0], shared_tokens=96, caching=True)]


def traffic(kind: str, seed: int) -> tuple[Source, int]:
    """A source, and how many requests come of it at most."""
    if kind == "closed":
        return closed_loop(KINDS, 12, 60, seed), 360
    rates = [(1.0, "poisson", 1.0), (12.0, "gamma", 2.0)]
    return open_loop(KINDS, rates, 80, seed), 480


@settings(max_examples=60, deadline=None)
@given(
    router=st.sampled_from(ROUTERS),
    kind=st.sampled_from(["open", "closed"]),
    group=st.sampled_from([1, 2]),
    lost=st.floats(0.5, 4.0),
    back=st.sampled_from([1.0, 5.0, math.inf]),
    rolled=st.sampled_from([None, Rollout(1.0, 1, 2.0, 0.2), Rollout(0.5, 2, 1.0)]),
    scaled=st.sampled_from([None, Scaling(1, 2.0, 4.0, 0.5, 3.0)]),
    seed=st.integers(0, 999),
)
def test_requests_are_conserved(
    router: str,
    kind: str,
    group: int,
    lost: float,
    back: float,
    rolled: Rollout | None,
    scaled: Scaling | None,
    seed: int,
) -> None:
    """Whatever is lost, replaced or scaled: each is served once or turned away once, and all blocks come back."""
    limits = replace(WIDE, seats=8, blocks=300)
    found = fleet(
        4 * group, GROWING, limits, router=router, group=group, rollout=rolled, scaling=scaled,
        outages=[Outage((1,), lost, lost + back)],
    )  # fmt: skip
    seen: list[tuple[int, int, int]] = []
    source, most = traffic(kind, seed)
    found.run(source)
    done = everyone(found)
    seen = [(item.owner, item.session, item.turn) for item in done]
    assert max(Counter(seen).values()) == 1
    served_ones = [item for item in done if not item.rejected]
    assert len(done) <= most and served_ones
    # No session stops before its last turn, unless a turn of it was turned away.
    turned_away = {(item.owner, item.session) for item in done if item.rejected}
    turns = Counter((item.owner, item.session) for item in served_ones if item.owner == 0)
    assert all(number == 6 for key, number in turns.items() if key not in turned_away)
    for item in served_ones:
        assert item.arrival_s <= item.scheduled_s <= item.finished_s
        assert item.first_token_s <= item.finished_s + 1e-12
    for engine in found.engines:
        assert engine.idle and engine.pool.used == 0 and engine.pool.growing == 0
    assert not any(right[0] < left[0] for left, right in pairwise(found.serving_s))


@settings(max_examples=30, deadline=None)
@given(router=st.sampled_from(ROUTERS), kind=st.sampled_from(["open", "closed"]), seed=st.integers(0, 999))
def test_skipping_gives_what_single_steps_give(router: str, kind: str, seed: int) -> None:
    runs = []
    for skip in (True, False):
        found = fleet(3, GROWING, replace(WIDE, seats=8, blocks=300), skip, router=router)
        found.run(traffic(kind, seed)[0])
        runs.append(sorted((item.owner, item.session, item.turn, item.finished_s) for item in everyone(found)))
    for one, other in zip(*runs, strict=True):
        assert one[:3] == other[:3] and one[3] == pytest.approx(other[3], rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("router", ROUTERS)
def test_the_same_seed_gives_the_same_run(router: str) -> None:
    runs = []
    for _ in range(2):
        found = fleet(3, GROWING, replace(WIDE, blocks=300), router=router, scaling=Scaling(1, 2.0, 4.0))
        found.run(traffic("open", 7)[0])
        runs.append([(item.arrival_s, item.first_token_s, item.finished_s) for item in everyone(found)])
    assert runs[0] == runs[1]


def test_one_engine_behind_any_router_is_that_engine() -> None:
    ends = []
    for router in ROUTERS:
        found = fleet(1, GROWING, replace(WIDE, blocks=300), router=router)
        found.run(traffic("closed", 3)[0])
        ends.append([item.finished_s for item in everyone(found)])
    assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize("router", ROUTERS)
def test_a_closed_loop_keeps_every_engine_busy_to_the_end(router: str) -> None:
    """Eight at all times over two engines: four each, all through the run, not one engine after the other."""
    engines = [EngineSimulation(StepClock(FIXED, 2048.0), Limits(2048, 64)) for _ in range(2)]
    kinds = [Kind(prompts=(100.0,), outputs=(20.0, 30.0))]
    Fleet(engines, router=router).run(closed_loop(kinds, 8, 400, 1))
    assert [len(engine.done) for engine in engines] == pytest.approx([200, 200], abs=12)
    ends = [engine.now for engine in engines]
    assert ends[0] == pytest.approx(ends[1], rel=0.05)
    inside = sum(item.latency_s for engine in engines for item in engine.done) / max(ends)
    assert inside == pytest.approx(8.0, rel=0.05)
