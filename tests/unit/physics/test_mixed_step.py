"""The mixed step: the textbook's floor to the digit, and parts by hand."""

import math

import pytest

from planner.physics.attention import causal_pairs
from planner.physics.collectives import LatencyTable, interpolated_s
from planner.physics.experts import touched_share
from planner.physics.roofline import roofline_s
from planner.physics.step import AttentionCost, StepCost, decode_line, step_s, step_terms


def textbook() -> StepCost:
    """7e9 parameters of 2 bytes at 1 TB/s and 40 TFLOP/s; 131,072 bytes of cache a token."""
    cache = AttentionCost(read_s=131_072 / 1e12, decode_arithmetic_s=0.0, prefill_arithmetic_s=0.0)
    return StepCost(
        linear_read_s=14e9 / 1e12,
        linear_arithmetic_s=2 * 7e9 / 40e12,
        head_read_s=0.0,
        head_arithmetic_s=0.0,
        attention=(cache,),
        exponent=math.inf,
        merged=True,
    )


def test_sixteen_sequences_of_8192_tokens_take_31_2_ms() -> None:
    # 14 GB + 16 x 8192 x 131,072 = 17.18 GB at 1 TB/s = 31.18 ms; arithmetic 16 x 14e9 / 40e12 = 5.6 ms.
    terms = step_terms(textbook(), 16.0, 16.0 * 8192)
    assert round(terms.total_s * 1e3, 1) == 31.2
    assert round(terms.compute_s * 1e3, 1) == 5.6


def test_terms_add_up() -> None:
    terms = step_terms(textbook(), 16.0, 16.0 * 8192)
    parts = [getattr(terms, name) for name in terms.__dataclass_fields__ if name.endswith("_s")]
    summed = math.fsum(parts) - terms.total_s - terms.memory_s - terms.compute_s
    assert math.isclose(summed, terms.total_s, rel_tol=1e-12)


def test_steps_of_one_batch_lie_on_a_line() -> None:
    start, slope, limit = decode_line(textbook(), 16.0, 8192.0)
    assert math.isinf(limit)
    assert math.isclose(start + slope * 16 * 9000, step_s(textbook(), 16.0, 16.0 * 9000), rel_tol=1e-12)


def test_between_the_two_limits_a_product_takes_longer_than_either() -> None:
    # (3^2 + 4^2)^(1/2) = 5.
    assert math.isclose(roofline_s(3.0, 4.0, 2.0), 5.0)
    assert roofline_s(3.0, 4.0, math.inf) == 4.0


def test_experts_touched() -> None:
    # Mixtral, 2 of 8: four tokens touch 8 (1 - 0.75^4) = 5.47 of them.
    assert math.isclose(8 * touched_share(8.0, 2.0, 4.0), 5.46875)


def test_pairs_of_a_causal_chunk() -> None:
    assert causal_pairs(100.0, 50.0) == 100 * (50 + 50)


@pytest.mark.parametrize(("size", "expected"), [(1024.0, 4e-6), (4096.0, 8e-6), (2048.0, math.sqrt(32) * 1e-6)])
def test_tables_are_read_between_logarithms(size: float, expected: float) -> None:
    table = LatencyTable.of(((1024.0, 4e-6), (4096.0, 8e-6)))
    assert math.isclose(interpolated_s(size, table), expected, rel_tol=1e-12)
