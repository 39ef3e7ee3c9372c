"""The step for numbers is the mixed step: equal to 1e-12 for every kind of cost, made up or of a spec."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.api import check_spec
from planner.physics.collectives import LatencyTable
from planner.physics.scalar_step import step_function
from planner.physics.step import AttentionCost, CollectiveCost, ExpertCost, StepCost, step_s

PLAIN = StepCost(
    10e-3, 12e-6, 0.5e-3, 1e-6, attention=(AttentionCost(4e-8, 1e-9, 2e-10),), elementwise_s=1e-6, kernels_s=1e-4,
    launch_s=6e-3, captured_tokens=512.0, captured_launches=0.3, host_s=2e-4, sequence_s=5e-6, hop_s=1e-5,
    hop_token_s=3e-7, unpack_s=1e-3,
)  # fmt: skip
TABLE = LatencyTable.of(((1e3, 20e-6), (1e5, 40e-6), (1e7, 400e-6)))
COSTS = (
    PLAIN,
    replace(PLAIN, captured=False),
    replace(PLAIN, exponent=1.2, state_s=1e-6, state_arithmetic_s=2e-7),
    replace(PLAIN, attention=(AttentionCost(4e-8, 1e-9, 2e-10, window=1024.0), AttentionCost(1e-8, 0.0, 1e-10))),
    replace(PLAIN, experts=(ExpertCost(8e-3, 9e-6, 128.0, 8.0, 2.0), ExpertCost(1e-3, 1e-6, 16.0, 1.0))),
    replace(PLAIN, collectives=(CollectiveCost(64.0, 8192.0, TABLE), CollectiveCost(2.0, 100.0, TABLE, 1.2, 1.6))),
    replace(PLAIN, exponent=math.inf),
    replace(PLAIN, merged=True),
    replace(PLAIN, linear_read_s=0.0, linear_arithmetic_s=0.0),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    cost=st.sampled_from(COSTS),
    decodes=st.floats(0.0, 512.0),
    context=st.floats(0.0, 20_000.0),
    prompt=st.one_of(st.just(0.0), st.floats(1.0, 16_384.0)),
    cached=st.floats(0.0, 1e5),
    finishing=st.integers(0, 8),
    width=st.sampled_from([1.0, 5.0]),
)
def test_numbers_take_what_the_mixed_step_takes(
    cost: StepCost, decodes: float, context: float, prompt: float, cached: float, finishing: int, width: float
) -> None:
    pairs = prompt * (cached + prompt / 2.0)
    sampled = decodes * width + finishing
    found = step_function(cost, width)(decodes, decodes * context, prompt, pairs, sampled)
    assert found == pytest.approx(step_s(cost, decodes, decodes * context, prompt, pairs, sampled, width), rel=1e-12)


@pytest.mark.parametrize("name", ["prod", "deepseek-v3", "mixtral-8x7b", "chat-8b-l4"])
def test_costs_of_committed_specs(name: str) -> None:
    judgement = check_spec(f"specs/{name}.yaml")
    assert judgement.result is not None
    cost = judgement.result.detail.served.service.step.cost
    fast = step_function(cost)
    for step in ((1.0, 800.0, 0.0, 0.0, 1.0), (64.0, 1e5, 512.0, 1.3e5, 65.0), (0.0, 0.0, 8192.0, 3.4e7, 3.0)):
        assert fast(*step) == pytest.approx(step_s(cost, *step), rel=1e-12)


def test_arrays_go_the_long_way() -> None:
    numpy = pytest.importorskip("numpy")
    fast = step_function(replace(PLAIN, linear_read_s=numpy.array(10e-3)))
    assert fast(4.0, 1e4, 0.0, 0.0, 4.0) == pytest.approx(step_s(PLAIN, 4.0, 1e4, 0.0, 0.0, 4.0), rel=1e-12)
