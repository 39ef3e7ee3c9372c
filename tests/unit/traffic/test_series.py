"""What happened over time adds up to what was served."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.physics.step import AttentionCost, StepCost
from planner.traffic.arrivals import times
from planner.traffic.engine import EngineSimulation, Limits
from planner.traffic.fleet import Fleet
from planner.traffic.population import Kind, Source, closed_loop, open_loop, until
from planner.traffic.records import gap_quantiles
from planner.traffic.request import Request
from planner.traffic.series import duration_s, series, width_for
from planner.traffic.step_clock import StepClock

FIXED = StepCost(0.0, 0.0, 0.0, 0.0, kernels_s=0.010)
GROWING = StepCost(
    0.0, 20e-6, 0.0, 0.0, attention=(AttentionCost(1e-6, 0.0, 1e-9),), kernels_s=0.010, exponent=math.inf
)
WIDE = Limits(budget_tokens=2048, seats=256, blocks=1000)


def served(cost: StepCost, limits: Limits, source: Source) -> EngineSimulation:
    engine = EngineSimulation(StepClock(cost, limits.budget_tokens), limits)
    Fleet([engine]).run(source)
    return engine


def by_hand(*requests: Request) -> Source:
    return Source(iter(requests))


def test_one_request_by_hand() -> None:
    """Arrives at 1 s, prompt of 100 in one step of 10 ms, 100 decode steps: gone at 2.01 s, 7 to 13 blocks."""
    engine = served(FIXED, WIDE, by_hand(Request(1.0, 100, 101)))
    rows = series([engine], 0.5)
    assert [row.arrived for row in rows] == [0, 0, 1, 0, 0]
    assert [row.completed for row in rows] == [0, 0, 0, 0, 1]
    assert [row.running for row in rows] == pytest.approx([0.0, 0.0, 1.0, 1.0, 1.0])
    assert [row.queue for row in rows] == pytest.approx([0.0] * 5, abs=1e-9)
    # the last interval is 10 ms long
    assert rows[-1].end_s == pytest.approx(2.01)
    assert math.fsum(row.input_tokens_per_s * (row.end_s - row.begin_s) for row in rows) == pytest.approx(100)
    assert rows[2].output_tokens_per_s == pytest.approx(101 / 1.0 * 0.49 / 0.5)


def test_seats_that_are_taken_make_a_queue() -> None:
    """One seat, four requests of 0.5 s each: three, two, one, none wait."""
    requests = [Request(0.0, 10, 50) for _ in range(4)]
    rows = series([served(FIXED, replace(WIDE, seats=1), by_hand(*requests))], 0.5)
    assert [row.queue for row in rows] == pytest.approx([3.0, 2.0, 1.0, 0.0], abs=1e-9)
    assert [row.running for row in rows] == pytest.approx([1.0] * 4)


def test_those_turned_away_wait_until_they_are() -> None:
    """One seat for a second; the second request gives up after 0.2 s, the third finds the queue full."""
    limits = replace(WIDE, seats=1, queue=1, queue_s=0.2)
    requests = [Request(0.0, 10, 100), Request(0.1, 10, 5), Request(0.15, 10, 5)]
    rows = series([served(FIXED, limits, by_hand(*requests))], 0.5)
    assert [row.rejected for row in rows] == [2, 0]
    assert rows[0].queue == pytest.approx(0.2 / 0.5)


@settings(max_examples=25, deadline=None)
@given(rate=st.floats(5.0, 60.0), blocks=st.sampled_from([0, 150, 600]), width=st.sampled_from([0.01, 0.3, 2.0, 1e3]))
def test_everything_adds_up(rate: float, blocks: int, width: float) -> None:
    """Little: the sum over time of those inside is the sum of their times inside; tokens are those of the requests."""
    arriving = [
        Request(at, 60 + (index * 91) % 300, 1 + (index * 37) % 60)
        for index, at in zip(range(150), times("poisson", rate, 1.0, 3), strict=False)
    ]
    engine = served(GROWING, replace(WIDE, blocks=blocks, queue=20), by_hand(*arriving))
    rows = series([engine], width)
    spans = [row.end_s - row.begin_s for row in rows]
    inside = math.fsum((row.queue + row.running) * span for row, span in zip(rows, spans, strict=True))
    # Preempted requests wait again, so that queue and running together are those inside; never less.
    assert inside >= math.fsum(item.finished_s - item.arrival_s for item in engine.done) * (1.0 - 1e-6)
    if not engine.preemptions and engine.occupancy.every == 1 and width > 1.0:
        assert inside == pytest.approx(math.fsum(item.finished_s - item.arrival_s for item in engine.done), rel=0.02)
    done = [item for item in engine.done if not item.rejected]
    tokens = math.fsum(row.output_tokens_per_s * span for row, span in zip(rows, spans, strict=True))
    assert tokens == pytest.approx(sum(item.output for item in done))
    assert sum(row.arrived for row in rows) == 150 == sum(row.completed + row.rejected for row in rows)
    assert rows[-1].end_s == pytest.approx(duration_s([engine]))
    shares = [row.cache for row in rows]
    assert all(share is None if not blocks else share is not None and 0.0 <= share <= 1.0 for share in shares)


def test_thinning_keeps_the_means() -> None:
    """A run of more stretches than rows are kept, against one that keeps them all."""
    kinds = [Kind(prompts=(200.0, 400.0), outputs=(10.0, 50.0, 120.0))]
    whole, thin = (served(GROWING, WIDE, open_loop(kinds, [(30.0, "poisson", 1.0)], 2_000, 1)) for _ in range(2))
    thin.occupancy.rows = thin.occupancy.rows[::16] + thin.occupancy.rows[-1:]
    pairs = zip(series([whole], 5.0), series([thin], 5.0), strict=True)
    assert all(first.running == pytest.approx(second.running, rel=0.02) for first, second in pairs)


def test_intervals_are_round_and_bounded() -> None:
    assert width_for(3_500.0, 24) == 200.0
    assert width_for(1.0, 10) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="10,000 at most"):
        series([served(FIXED, WIDE, by_hand(Request(0.0, 10, 2000)))], 0.001)


def test_nothing_arrives_or_follows_after_the_end() -> None:
    kinds = [Kind(prompts=(100.0,), outputs=(10.0,), turns=3, delay_s=0.4)]
    opened = served(FIXED, WIDE, until(open_loop(kinds, [(5.0, "constant", 0.0)], 1_000, 1), 2.0))
    closed = served(FIXED, WIDE, until(closed_loop(kinds, 4, 1_000, 1), 2.0))
    for engine in (opened, closed):
        assert 4 < len(engine.done) < 60
        assert max(item.arrival_s for item in engine.done) < 2.0


stretches = st.tuples(
    st.floats(0.001, 0.1), st.sampled_from([0.0, 1e-6, 1e-3]), st.integers(1, 40), st.integers(1, 30)
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(stretches, min_size=1, max_size=30))
def test_gap_quantiles_are_those_of_all_gaps(rows: list[tuple[float, float, int, int]]) -> None:
    """Against every gap written out, each as often as its weight, nearest rank."""
    gaps = sorted(
        first + rise * step for first, rise, count, weight in rows for step in range(count) for _ in range(weight)
    )
    levels = (0.5, 0.9, 0.95, 0.99)
    wanted = [gaps[max(math.ceil(level * len(gaps) * (1 - 1e-9)) - 1, 0)] for level in levels]
    found = gap_quantiles([(first, rise, float(count), float(weight)) for first, rise, count, weight in rows], levels)
    assert found == pytest.approx(wanted, rel=1e-9)
