"""Roots that are known: of polynomials, of logarithms, and of functions that regula falsi alone is slow at."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from planner.physics.root import root

KNOWN: tuple[tuple[Callable[[float], float], float, float, float], ...] = (
    (lambda x: 2.0 - x, 0.0, 10.0, 2.0),
    (lambda x: 2.0 - x * x, 0.0, 1e6, math.sqrt(2.0)),
    (lambda x: 1.0 - math.log(x), 1.0, 1e9, math.e),
    (lambda x: 1e-3 - x**9, 0.0, 1e3, 1e-3 ** (1.0 / 9.0)),
    (lambda x: 0.01 - x, 1e-12, 1e9, 0.01),
    (lambda x: 1.0 if x < 7.25 else -1.0, 0.0, 100.0, 7.25),
)


@pytest.mark.parametrize(("function", "low", "high", "expected"), KNOWN)
def test_known_roots(function: Callable[[float], float], low: float, high: float, expected: float) -> None:
    calls = []

    def counted(x: float) -> float:
        calls.append(x)
        return function(x)

    found = root(counted, (low, function(low)), (high, function(high)))
    assert found == pytest.approx(expected, rel=1e-13)
    assert function(found) <= 0.0
    assert len(calls) <= 100


def test_a_smooth_function_takes_few_steps() -> None:
    calls = []

    def counted(x: float) -> float:
        calls.append(x)
        return 0.02 + 0.9 * x - x

    assert root(counted, (1e-9, counted(1e-9)), (40.0, counted(40.0))) == pytest.approx(0.2, rel=1e-13)
    assert len(calls) < 15


def test_nothing_positive_at_the_left() -> None:
    assert root(lambda x: -1.0, (3.0, -1.0), (5.0, -1.0)) == 3.0
