"""Tokens a step, speed-up and break-even of speculative decoding, against hand arithmetic."""

from __future__ import annotations

import pytest

from planner.physics import speculation


@pytest.mark.parametrize(
    ("probability", "proposed", "tokens"),
    [
        (0.5, 4, 1.94),  # 1 + 1/2 + 1/4 + 1/8 + 1/16 = 1.9375
        (0.7, 4, 2.77),  # 1 + 0.7 + 0.49 + 0.343 + 0.2401 = 2.7731
        (0.9, 4, 4.10),  # 1 + 0.9 + 0.81 + 0.729 + 0.6561 = 4.0951
        (0.8, 3, 2.952),  # 1 + 0.8 + 0.64 + 0.512 = 2.952
        (0.0, 4, 1.0),  # only the target's own token
        (1.0, 4, 5.0),  # every proposal and the target's own
    ],
)
def test_textbook_tokens_per_step(probability: float, proposed: int, tokens: float) -> None:
    places = 3 if proposed == 3 else 2
    assert round(speculation.tokens_per_step_from_probability(probability, proposed), places) == tokens


def test_textbook_equals_the_closed_form() -> None:
    # (1 - 0.6^6) / (1 - 0.6) = (1 - 0.046656) / 0.4 = 2.38336
    assert speculation.tokens_per_step_from_probability(0.6, 5) == pytest.approx(2.38336, rel=1e-12)


def test_rates_of_positions_add_up() -> None:
    # 100 steps: 83 accepted the first, 70 of those the second, 55 of those the third: 208 accepted tokens
    # in 100 steps, and 100 tokens of the target: 3.08 a step. Multiplying them up would give
    # 1 + 0.83 + 0.581 + 0.31955 = 2.73, which is not what was measured.
    assert speculation.tokens_per_step_from_positions([0.83, 0.70, 0.55]) == pytest.approx(3.08)


def test_equal_chances_give_the_same_answer_by_position() -> None:
    # Chance 0.7 each: positions are reached and accepted at 0.7, 0.49, 0.343, 0.2401.
    by_position = speculation.tokens_per_step_from_positions([0.7, 0.49, 0.343, 0.2401])
    assert by_position == pytest.approx(speculation.tokens_per_step_from_probability(0.7, 4))


def test_speed_up_at_batch_one() -> None:
    # Verification as long as a step (memory bound), draft a twentieth: Leviathan's E / (k c + 1) with
    # k = 4, c = 0.05: 2.7731 / 1.2 = 2.310917.
    assert speculation.speed_up(2.7731, 0.020, 0.020, 0.001, 4) == pytest.approx(2.310917, rel=1e-6)


def test_speculation_loses_where_verification_is_arithmetic() -> None:
    # Compute bound: five times the tokens take five times as long. 2.7731 x 20 / (100 + 4 x 1) = 0.533.
    assert speculation.speed_up(2.7731, 0.020, 0.100, 0.001, 4) == pytest.approx(0.53329, rel=1e-4)


def test_break_even() -> None:
    # (100 + 4) / 20 = 5.2 tokens a step, above k + 1 = 5: no acceptance pays.
    needed = speculation.break_even_tokens_per_step(0.020, 0.100, 0.001, 4)
    assert needed == pytest.approx(5.2)
    assert speculation.acceptance_probability(needed, 4) is None
    # (24 + 4) / 20 = 1.4; and at exactly that length the speed-up is 1.
    needed = speculation.break_even_tokens_per_step(0.020, 0.024, 0.001, 4)
    assert needed == pytest.approx(1.4)
    assert speculation.speed_up(needed, 0.020, 0.024, 0.001, 4) == pytest.approx(1.0)


def test_the_chance_behind_a_length() -> None:
    # 1 + 1/2 + 1/4 + 1/8 + 1/16 = 1.9375
    assert speculation.acceptance_probability(1.9375, 4) == pytest.approx(0.5, abs=1e-12)
    assert speculation.acceptance_probability(1.0, 4) == pytest.approx(0.0, abs=1e-12)


def test_arrays_and_floats_agree() -> None:
    numpy = pytest.importorskip("numpy")
    chances = numpy.array([0.0, 0.5, 0.7, 0.9, 1.0])
    together = speculation.tokens_per_step_from_probability(chances, 4)
    singly = [speculation.tokens_per_step_from_probability(float(chance), 4) for chance in chances]
    assert together == pytest.approx(singly, rel=1e-12)
    batch_step = numpy.array([0.02, 0.03])
    assert speculation.speed_up(2.0, batch_step, 2 * batch_step, 0.0, 4) == pytest.approx([1.0, 1.0])
