"""Few scalars from few measurements: a damped Gauss-Newton search for the most probable ones. Pure arithmetic.

With x_k = ln(scalar k), residual r_i(x) = ln(predicted_i / measured_i) and s_i what is usual for such a figure, the
most probable x is the smallest

    sum_i (n + 1)/2 ln(1 + r_i^2 / (n s_i^2)) + sum_k x_k^2 / (2 p_k^2)

Student's t with n degrees of freedom: a point that is far from what the others say loses its weight, where a square
would give it more of it. The second sum is the prior: a scalar that nothing speaks of stays at 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

FREEDOM = 4.0
STEP = 0.01
"""Of a logarithm, for slopes."""
MOST_ITERATIONS = 30
CLOSE = 1e-5
LARGEST_MOVE = 0.5
"""Of a logarithm, in one iteration."""

Predict = Callable[[Sequence[float]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """logarithms: of the scalars. spreads: one standard deviation of each. weights: 0 to 1 of each point.

    before, after: residuals with all scalars at 1, and with these.
    """

    logarithms: tuple[float, ...]
    spreads: tuple[float, ...]
    weights: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]


def fit(predict: Predict, measured: Sequence[float], usual: Sequence[float], prior: Sequence[float]) -> Fitted:
    """The most probable scalars.

    predict: logarithms of the scalars -> logarithms of the figures. measured: logarithms of the figures. usual: s_i.
    prior: p_k.
    """
    start = [0.0] * len(prior)
    first = _residuals(predict, measured, start)
    here, residuals = start, first
    loss, damping = _loss(here, residuals, usual, prior), 1e-3
    for _ in range(MOST_ITERATIONS):
        slopes = _slopes(predict, here, residuals, measured)
        matrix, gradient = _normal(slopes, residuals, usual, prior, here)
        moved, damping, found = _descend(predict, measured, usual, prior, here, matrix, gradient, loss, damping)
        if found is None:
            break
        step = max(abs(new - old) for new, old in zip(moved, here, strict=True))
        here, residuals, loss = moved, found[0], found[1]
        if step < CLOSE:
            break
    matrix, _ = _normal(_slopes(predict, here, residuals, measured), residuals, usual, prior, here)
    spreads = tuple(math.sqrt(max(value, 0.0)) for value in _inverse_diagonal(matrix))
    weights = tuple(_weight(value, scale) for value, scale in zip(residuals, usual, strict=True))
    return Fitted(tuple(here), spreads, weights, tuple(first), tuple(residuals))


def _residuals(predict: Predict, measured: Sequence[float], here: Sequence[float]) -> list[float]:
    return [value - seen for value, seen in zip(predict(here), measured, strict=True)]


def _loss(here: Sequence[float], residuals: Sequence[float], usual: Sequence[float], prior: Sequence[float]) -> float:
    points = (
        (FREEDOM + 1.0) / 2.0 * math.log1p((value / scale) ** 2 / FREEDOM)
        for value, scale in zip(residuals, usual, strict=True)
    )
    return math.fsum((*points, *((x / p) ** 2 / 2.0 for x, p in zip(here, prior, strict=True))))


def _weight(residual: float, scale: float) -> float:
    """1 for a point that fits, towards 0 for one that is far off: n / (n + (r / s)^2)."""
    return FREEDOM / (FREEDOM + (residual / scale) ** 2)


def _slopes(
    predict: Predict, here: Sequence[float], residuals: Sequence[float], measured: Sequence[float]
) -> list[list[float]]:
    """d figure / d scalar, logarithms, by the difference to both sides: one row a scalar."""
    rows = []
    now = [value + seen for value, seen in zip(residuals, measured, strict=True)]
    for index in range(len(here)):
        above, below = list(here), list(here)
        above[index] += STEP
        below[index] -= STEP
        rows.append([_slope(*values) for values in zip(predict(below), now, predict(above), strict=True)])
    return rows


def _slope(below: float, now: float, above: float) -> float:
    """By the side that has a figure, where one has none (infinity: a queue that grows)."""
    ends = [value for value in (below, now, above) if math.isfinite(value)]
    steps = (len(ends) - 1) * STEP
    return (ends[-1] - ends[0]) / steps if steps and math.isfinite(now) else 0.0


def _normal(
    slopes: Sequence[Sequence[float]], residuals: Sequence[float], usual: Sequence[float], prior: Sequence[float],
    here: Sequence[float],
) -> tuple[list[list[float]], list[float]]:  # fmt: skip
    """Matrix and gradient of the weighted squares, prior included."""
    share = (FREEDOM + 1.0) / FREEDOM
    weights = [share * _weight(r, s) / s**2 for r, s in zip(residuals, usual, strict=True)]
    size = range(len(prior))
    matrix = [
        [
            math.fsum(w * a * b for w, a, b in zip(weights, slopes[i], slopes[j], strict=True))
            + (1.0 / prior[i] ** 2 if i == j else 0.0)
            for j in size
        ]
        for i in size
    ]
    gradient = [
        math.fsum(w * a * r for w, a, r in zip(weights, slopes[i], residuals, strict=True)) + here[i] / prior[i] ** 2
        for i in size
    ]
    return matrix, gradient


def _descend(
    predict: Predict, measured: Sequence[float], usual: Sequence[float], prior: Sequence[float],
    here: Sequence[float], matrix: Sequence[Sequence[float]], gradient: Sequence[float], loss: float, damping: float,
) -> tuple[list[float], float, tuple[list[float], float] | None]:  # fmt: skip
    """One step that lowers the loss, damped until it does; None where none does."""
    while damping < 1e8:
        damped = [[v * (1.0 + damping) if i == j else v for j, v in enumerate(row)] for i, row in enumerate(matrix)]
        step = solve(damped, gradient)
        moved = [x - max(-LARGEST_MOVE, min(LARGEST_MOVE, d)) for x, d in zip(here, step, strict=True)]
        residuals = _residuals(predict, measured, moved)
        found = _loss(moved, residuals, usual, prior)
        if found <= loss:
            return moved, max(damping / 10.0, 1e-9), (residuals, found)
        damping *= 10.0
    return list(here), damping, None


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """x of `matrix` x = `right`, a symmetric positive definite one, by elimination with the largest pivot."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda index: abs(rows[index][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for below in range(column + 1, size):
            share = rows[below][column] / rows[column][column]
            rows[below] = [a - share * b for a, b in zip(rows[below], rows[column], strict=True)]
    found = [0.0] * size
    for index in reversed(range(size)):
        known = math.fsum(rows[index][other] * found[other] for other in range(index + 1, size))
        found[index] = (rows[index][size] - known) / rows[index][index]
    return found


def _inverse_diagonal(matrix: Sequence[Sequence[float]]) -> list[float]:
    size = len(matrix)
    columns = [solve(matrix, [1.0 if row == index else 0.0 for row in range(size)]) for index in range(size)]
    return [column[index] for index, column in enumerate(columns)]
