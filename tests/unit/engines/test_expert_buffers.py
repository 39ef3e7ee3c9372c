"""Buffers of fused experts, counted by hand."""

from __future__ import annotations

import pytest

from planner.domain.model import FeedForward, Model, Weight
from planner.domain.shards import Parallel
from planner.engines._expert_buffers import ExpertKernel, expert_width, peak_bytes

GIB = 2**30
EXPERTS = FeedForward(
    kind="experts",
    weights=(Weight("gate", 2560, 6144, role="expert", copies=160, active_copies=8, format="fp8-block"),),
    width=2560,
    experts=160,
    experts_per_token=8,
)
MODEL = Model(name="coder", hidden=6144, vocabulary=151_936, groups=(), dtype="bf16")
SPREAD = Parallel(data=8, expert=8)


def test_data_parallel_ranks_hold_the_tokens_of_all() -> None:
    # Qwen3-Coder-480B on 8 ranks of 8192 tokens, calls of 32,768 tokens, v0.10.1:
    # own 3 x 8192 x 6144 x 2 = 0.28 GiB, gathered 65,536 x 6144 x 2 = 0.75 GiB,
    # buffers 32,768 x 8 x (max(5120, 6144) + 2560) x 2 = 4.25 GiB,
    # fp8 inputs of this call and the one before 2 x 32,768 x (6144 + 8 x 2560) = 1.62 GiB.
    found = peak_bytes(EXPERTS, MODEL, SPREAD, 8192, ExpertKernel("shared", 32_768, ("fp8", "bf16")))
    assert found / GIB == pytest.approx(0.281 + 0.75 + 4.25 + 1.625, abs=0.01)


def test_one_rank_gathers_nothing() -> None:
    # 3 x 8192 x 6144 x 2 = 0.28, buffers 8192 x 8 x 8704 x 2 = 1.0625, inputs 8192 x 26,624 = 0.203 GiB.
    found = peak_bytes(EXPERTS, MODEL, Parallel(), 8192, ExpertKernel("shared", 32_768, ("fp8", "bf16")))
    assert found / GIB == pytest.approx(0.281 + 1.0625 + 0.203, abs=0.01)


def test_stored_formats_are_not_quantised_inputs() -> None:
    # A card without fp8 arithmetic reads 16-bit inputs: 0.203 GiB less.
    found = peak_bytes(EXPERTS, MODEL, Parallel(), 8192, ExpertKernel("shared", 0, ("bf16",)))
    assert found / GIB == pytest.approx(0.281 + 1.0625, abs=0.01)


def test_kernels_of_weights_alone_take_all_tokens() -> None:
    # 64,000 tokens of 2304 with 8 experts of 512, 4-bit weights (issue 28228): 3 x 64,000 x 2304 x 2 = 0.82 GiB and
    # 64,000 x 8 x (2304 + 512) x 2 = 2.69 GiB, where calls of 32,768 tokens would take half.
    weight = Weight("gate", 512, 2304, role="expert", copies=256, active_copies=8, format="awq-int4")
    item = FeedForward(kind="experts", weights=(weight,), width=512, experts=256, experts_per_token=8)
    model = Model(name="hybrid", hidden=2304, vocabulary=163_840, groups=(), dtype="bf16")
    found = peak_bytes(item, model, Parallel(), 64_000, ExpertKernel("shared", 32_768, ("bf16",)))
    assert found / GIB == pytest.approx(0.824 + 2.686, abs=0.01)


@pytest.mark.parametrize(
    ("layout", "row"),
    [
        ("separate", 3 * 2560 + 6144),
        ("shared", 6144 + 2560),
        ("double", 6144 + 6144),
    ],
)
def test_layouts(layout: str, row: int) -> None:
    found = peak_bytes(EXPERTS, MODEL, Parallel(), 1000, ExpertKernel(layout))  # type: ignore[arg-type]
    assert found == pytest.approx((3 * 6144 + 8 * row) * 1000 * 2)


@pytest.mark.parametrize(
    ("parallel", "width"),
    [
        (Parallel(tensor=4), 640),
        (Parallel(tensor=4, expert=4), 2560),
        (Parallel(data=8), 320),
        (Parallel(data=8, expert=8), 2560),
        (Parallel(tensor=2, data=4, expert=8), 2560),
    ],
)
def test_whole_experts_or_slices(parallel: Parallel, width: float) -> None:
    assert expert_width(EXPERTS, parallel) == width
