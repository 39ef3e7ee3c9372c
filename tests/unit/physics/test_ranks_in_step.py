"""Ranks that share experts step together: a prompt on one of them lengthens the step of all."""

from __future__ import annotations

import pytest

from planner.physics.serving import Engine, Requests, counts
from planner.physics.step import StepCost
from planner.traffic.step_clock import StepClock

ALONE = Engine(chunk_tokens=1000.0, seats=1.0)
PAIR = Engine(chunk_tokens=1000.0, seats=1.0, together=2.0)
REQUEST = Requests(prompt=100.0, cached=0.0, output=101.0)


def test_each_rank_sees_the_prompts_of_both() -> None:
    """One request a rank: 1 step of prompt and 100 of answer. Of 101 steps, 1 has a prompt alone, 2 with another."""
    alone, pair = (counts(REQUEST, engine, 1.0, 1.0) for engine in (ALONE, PAIR))
    assert (alone.all, alone.mixed, alone.prompts) == pytest.approx((101.0, 1.0, 1.0))
    assert (pair.all, pair.mixed, pair.prompts) == pytest.approx((101.0, 2.0, 1.0))


def test_where_every_step_has_prompts_the_busiest_rank_has_its_own() -> None:
    """400 requests a rank with answers of 10 steps: every step has prompts; no rank has more than its share of them,
    or whole ones."""
    request = Requests(prompt=100.0, cached=0.0, output=11.0)
    pair = counts(request, PAIR, 400.0, 1.0)
    assert pair.mixed == pytest.approx(pair.all)
    assert pair.prompts == pytest.approx(400.0 / pair.all)


@pytest.mark.parametrize(
    ("tokens", "finishing", "share"), [(400, 1, 1.0), (400, 2, 0.5), (400, 4, 0.5), (3000, 1, 2 / 3)]
)
def test_share_of_the_busiest_rank(tokens: int, finishing: int, share: float) -> None:
    """One prompt is whole on one of two ranks, two are one each; a chunk of 2000 is the most that one rank takes."""
    clock = StepClock(StepCost(0.0, 1e-6, 0.0, 0.0, exponent=float("inf")), 2000.0, together=2)
    assert clock.mixed_s(0, 0.0, tokens, 0.0, finishing) == pytest.approx(tokens * share * 1e-6)


def test_decodes_are_spread_over_the_ranks() -> None:
    """64 sequences on two ranks take the time of 32 on one."""
    cost = StepCost(1e-3, 1e-5, 0.0, 0.0, exponent=float("inf"), sequence_s=1e-4)
    pair, alone = StepClock(cost, 2000.0, together=2), StepClock(cost, 2000.0)
    assert pair.decode_line(64, 0.0)[0] == pytest.approx(alone.decode_line(32, 0.0)[0])
