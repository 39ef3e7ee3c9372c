"""Which input, changed by how much, flips the verdict: bisection on each input alone."""

from __future__ import annotations

import math

from planner.analysis.scaling import Input, inputs_of
from planner.domain.evaluation import Evaluation
from planner.evaluation import Detail, evaluate
from planner.report.analysis_types import Quantity, Sensitivity

WIDEST = 8.0
"""Inputs are tried from an eighth to eight times their value."""
STEPS = 10


def sensitivities(detail: Detail) -> tuple[Sensitivity, ...]:
    """For every input the nearer flip, up or down; the nearest flips first."""
    found = [_sensitivity(detail, item) for item in inputs_of(detail.plan)]
    return tuple(
        sorted(found, key=lambda item: abs(math.log(1 + item.change)) if item.change is not None else math.inf)
    )


def outcomes(evaluation: Evaluation) -> dict[str, str]:
    """What can flip: whether it fits, and each objective's outcome."""
    found = {"memory": "fits" if evaluation.memory.fits else "does not fit"}
    for item in evaluation.objectives:
        found[f"{item.request_class}: {item.objective}" if item.request_class else item.objective] = item.outcome
    return found


def _sensitivity(detail: Detail, item: Input) -> Sensitivity:
    now = outcomes(detail.evaluation)
    flips = [flip for flip in (_flip(detail, item, now, WIDEST), _flip(detail, item, now, 1 / WIDEST)) if flip]
    present = Quantity(item.present, item.dimension)
    if not flips:
        reason = f"nothing flips between an eighth and {WIDEST:g} times of it"
        return Sensitivity(item.name, present, Quantity(None, item.dimension), None, "", "", item.path, reason)
    factor, name, word = min(flips, key=lambda flip: abs(math.log(flip[0])))
    return Sensitivity(
        item.name, present, Quantity(item.present * factor, item.dimension), factor - 1, name, word, item.path
    )


def _flip(detail: Detail, item: Input, now: dict[str, str], end: float) -> tuple[float, str, str] | None:
    """The factor nearest to 1, towards `end`, at which an outcome differs from now's; which, and to what."""

    def changed(log_factor: float) -> tuple[str, str] | None:
        then = outcomes(evaluate(item.scale(detail.plan, math.exp(log_factor))))
        moved = [(name, word) for name, word in then.items() if word != now.get(name)]
        return moved[0] if moved else None

    low, high = 0.0, math.log(end)
    found = changed(high)
    if found is None:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        here = changed(middle)
        low, high, found = (low, middle, here) if here else (middle, high, found)
    return math.exp(high), found[0], found[1]
