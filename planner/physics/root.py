"""The root of a function between two points where its signs differ."""

from __future__ import annotations

from collections.abc import Callable

MOST = 100
"""Evaluations: bisection alone, which the method falls back to, would be exact with half of them."""
CLOSE = 4e-16
"""Of the root: where neighbouring floats begin."""


def root(function: Callable[[float], float], low: tuple[float, float], high: tuple[float, float]) -> float:
    """x with function(x) = 0 by regula falsi that halves the weight of an end that stays (Illinois).

    x = (low f(high) - high f(low)) / (f(high) - f(low))

    low, high: (x, f(x)) with f(low) > 0 > f(high). Where three such steps do not halve the interval, the next one
    does, so the end comes in any case. Returns the end at which the function is not positive.
    Source: Dowell and Jarratt 1971, "A modified regula falsi method for computing the root of an equation".
    """
    (left, at_left), (right, at_right) = low, high
    if at_left <= 0.0:
        return left
    stayed, width, slow = 0, right - left, 0
    for _ in range(MOST):
        if right - left <= CLOSE * abs(right):
            break
        slow = slow + 1 if right - left > width / 2.0 else 0
        width = min(width, right - left)
        middle = (left * at_right - right * at_left) / (at_right - at_left)
        if slow > 3 or not left < middle < right:
            middle, slow = (left + right) / 2.0, 0
            if middle in (left, right):
                break
        found = function(middle)
        if found > 0.0:
            left, at_left = middle, found
            at_right = at_right / 2.0 if stayed > 0 else at_right
            stayed = 1
        else:
            right, at_right = middle, found
            if found == 0.0:
                break
            at_left = at_left / 2.0 if stayed < 0 else at_left
            stayed = -1
    return right
