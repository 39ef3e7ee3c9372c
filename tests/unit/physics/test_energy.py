"""Power and energy, worked by hand."""

import math

import pytest

from planner.physics.energy import PowerShares, busy_share, mean_share, running_share

SHARES = PowerShares(idle=0.1, active=0.5, memory=0.2, arithmetic=1.5)


def test_bytes_and_operations_add_to_what_running_takes() -> None:
    """0.5 + 0.2 x 0.6 + 1.5 x 0.1 = 0.77 of the rated power."""
    assert running_share(SHARES, 0.6, 0.1) == pytest.approx(0.77)


def test_no_accelerator_draws_more_than_its_limit() -> None:
    """0.5 + 0.2 x 0.2 + 1.5 x 0.6 = 1.44: capped at the rated power, or at a lower limit."""
    assert running_share(SHARES, 0.2, 0.6) == 1.0
    assert running_share(SHARES, 0.2, 0.6, limit=0.7) == 0.7


def test_the_mean_weighs_phases_by_time() -> None:
    """Busy 0.4 of the time, of that 0.25 in prefill: 0.6 x 0.1 + 0.4 x (0.25 x 1.0 + 0.75 x 0.7) = 0.37."""
    assert mean_share(0.1, 0.7, 1.0, 0.4, 0.25) == pytest.approx(0.37)


def test_an_engine_idles_when_nobody_is_there() -> None:
    """With a mean of 0.5 requests in the system it is empty for e^-0.5 = 0.6065 of the time."""
    assert busy_share(0.5) == pytest.approx(1 - 0.60653, abs=1e-5)
    assert busy_share(0.0) == 0.0
    assert busy_share(50.0) == pytest.approx(1.0)


def test_a_byte_and_an_operation_cost_what_accelerator_papers_say() -> None:
    """H100: 0.2 x 700 W / 3.35e12 byte/s = 42 pJ a byte (HBM3 is given as 4 to 7 pJ a bit, 31 to 56 pJ a byte);
    1.58 x 700 W / 989.5e12 FLOP/s = 1.1 pJ a FLOP."""
    byte, flop = 0.2 * 700 / 3.35e12, 1.58 * 700 / 989.5e12
    assert 31e-12 < byte < 56e-12
    assert math.isclose(flop, 1.1e-12, rel_tol=0.05)
