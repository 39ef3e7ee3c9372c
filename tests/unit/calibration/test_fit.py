"""The fit of few scalars: known factors come back, silence leaves them at 1, one bad point does little."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from planner.calibration.fit import fit, solve

USUAL = 0.04
PRIOR = (0.2, 0.3)
SHARES = (0.95, 0.8, 0.6, 0.4, 0.2)


def predict(logarithms: Sequence[float]) -> list[float]:
    """Five steps of 10 ms: a share of each is divided by the first scalar, the rest multiplied by the second."""
    first, second = (math.exp(x) for x in logarithms)
    return [math.log(10.0 * (share / first + (1.0 - share) * second)) for share in SHARES]


def truth(first: float, second: float) -> list[float]:
    return predict([math.log(first), math.log(second)])


def test_linear_equations() -> None:
    """2x + y = 5 and x + 3y = 10: x = 1, y = 3."""
    assert solve([[2.0, 1.0], [1.0, 3.0]], [5.0, 10.0]) == pytest.approx([1.0, 3.0])


def test_factors_that_made_the_points_come_back() -> None:
    """0.9 and 1.3; a prior as wide as 20 % pulls a little towards 1."""
    found = fit(predict, truth(0.9, 1.3), [USUAL] * 5, PRIOR)
    assert [math.exp(x) for x in found.logarithms] == pytest.approx([0.9, 1.3], rel=0.03)
    assert max(abs(r) for r in found.after) < 0.01 < max(abs(r) for r in found.before)
    assert min(found.weights) > 0.95


def test_nothing_measured_of_a_scalar_leaves_it_at_one() -> None:
    """Where every point is all reading, the other scalar keeps its prior: 1, and its whole width."""
    found = fit(lambda x: [math.log(10.0) - x[0]] * 3, [math.log(11.0)] * 3, [USUAL] * 3, PRIOR)
    assert found.logarithms[1] == pytest.approx(0.0, abs=1e-9)
    assert found.spreads[1] == pytest.approx(PRIOR[1], rel=1e-6)
    assert found.spreads[0] < PRIOR[0] / 5


@pytest.mark.parametrize("wrong", [0.2, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("index", range(5))
def test_one_bad_point_cannot_make_the_others_worse(wrong: float, index: int) -> None:
    """The other four say 1.1 and 1.2, and are no farther off than before, whatever the bad one says."""
    measured = truth(1.1, 1.2)
    measured[index] += math.log(wrong)
    found = fit(predict, measured, [USUAL] * 5, PRIOR)
    others = [i for i in range(5) if i != index]
    assert max(abs(found.after[i]) for i in others) <= max(abs(found.before[i]) for i in others) + USUAL / 2
    assert found.weights[index] < 0.2


def test_points_as_the_catalogue_says_leave_every_scalar_at_one() -> None:
    found = fit(predict, predict([0.0, 0.0]), [USUAL] * 5, PRIOR)
    assert found.logarithms == pytest.approx((0.0, 0.0), abs=1e-9)


def test_a_point_without_an_estimate_stops_no_search() -> None:
    """A queue that grows without bound has no figure: the search turns back from scalars that make it so."""

    def bounded(logarithms: Sequence[float]) -> list[float]:
        value = logarithms[0]
        return [math.log(10.0) - value, math.inf if value < -0.05 else math.log(20.0) - 5.0 * value]

    found = fit(bounded, [math.log(10.5), math.log(21.0)], [USUAL] * 2, (0.2,))
    assert -0.05 <= found.logarithms[0] <= 0.0
    assert all(math.isfinite(r) for r in found.after)
