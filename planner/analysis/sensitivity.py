"""Which input, changed by how much, flips the verdict, and which flips each objective: bisection, one at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from planner.analysis.scaling import Input, inputs_of
from planner.domain.evaluation import Evaluation, ObjectiveOutcome
from planner.evaluation import Detail, evaluate
from planner.report.analysis_types import Flip, Quantity, Sensitivity

WIDEST = 8.0
"""Inputs are tried from an eighth to eight times their value."""
STEPS = 10


@dataclass(frozen=True, slots=True)
class Trials:
    """Outcomes of a plan with one input scaled; each is worked out once."""

    detail: Detail
    now: dict[str, str]
    known: dict[tuple[str, float], dict[str, str]] = field(default_factory=dict)

    def moved(self, item: Input, log_factor: float) -> dict[str, str]:
        """{what differs from now: to what}, in the order of the spec."""
        found = self.known.get((item.name, log_factor))
        if found is None:
            then = outcomes(evaluate(item.scale(self.detail.plan, math.exp(log_factor))))
            found = {name: word for name, word in then.items() if word != self.now.get(name)}
            self.known[item.name, log_factor] = found
        return found


def sensitivities(detail: Detail) -> tuple[tuple[Sensitivity, ...], tuple[Flip, ...]]:
    """For every input the nearer flip, up or down, the nearest first; and for every objective its nearest."""
    trials, inputs = Trials(detail, outcomes(detail.evaluation)), inputs_of(detail.plan)
    found = [_sensitivity(trials, item) for item in inputs]
    ordered = sorted(found, key=lambda item: _distance(item.change))
    return tuple(ordered), tuple(_flips(trials, inputs))


def outcomes(evaluation: Evaluation) -> dict[str, str]:
    """What can flip: whether it fits, and each objective's outcome."""
    found = {"memory": "fits" if evaluation.memory.fits else "does not fit"}
    return {**found, **{_name(item): item.outcome for item in evaluation.objectives}}


def _name(item: ObjectiveOutcome) -> str:
    return f"{item.request_class}: {item.objective}" if item.request_class else item.objective


def _distance(change: float | None) -> float:
    return math.inf if change is None else abs(math.log(1 + change))


def _sensitivity(trials: Trials, item: Input) -> Sensitivity:
    present = Quantity(item.present, item.dimension)
    nearest = _nearest(trials, item, None)
    if nearest is None:
        reason = f"nothing flips between an eighth and {WIDEST:g} times of it"
        return Sensitivity(item.name, present, Quantity(None, item.dimension), None, "", "", item.path, reason)
    factor, name, word = nearest
    return Sensitivity(
        item.name, present, Quantity(item.present * factor, item.dimension), factor - 1, name, word, item.path
    )


def _flips(trials: Trials, inputs: list[Input]) -> Iterator[Flip]:
    """Memory and every objective: the input whose smallest change flips it, or none."""
    for name, word in trials.now.items():
        tried = [(found, item) for item in inputs if (found := _nearest(trials, item, name))]
        if not tried:
            yield Flip(name, word)
            continue
        (factor, _, to), item = min(tried, key=lambda pair: abs(math.log(pair[0][0])))
        present, at = Quantity(item.present, item.dimension), Quantity(item.present * factor, item.dimension)
        yield Flip(name, word, Sensitivity(item.name, present, at, factor - 1, name, to, item.path))


def _nearest(trials: Trials, item: Input, name: str | None) -> tuple[float, str, str] | None:
    """(factor, what flips, to what) nearest to 1, up or down; of `name` alone where it is given."""
    widest = math.log(WIDEST)
    flips = [flip for flip in (_flip(trials, item, name, end) for end in (widest, -widest)) if flip]
    return min(flips, key=lambda flip: abs(math.log(flip[0]))) if flips else None


def _flip(trials: Trials, item: Input, name: str | None, end: float) -> tuple[float, str, str] | None:
    """Nearest to 1, towards `end`."""

    def changed(log_factor: float) -> tuple[str, str] | None:
        moved = trials.moved(item, log_factor)
        return next(((key, word) for key, word in moved.items() if name is None or key == name), None)

    low, high = 0.0, end
    found = changed(high)
    if found is None:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        here = changed(middle)
        low, high, found = (low, middle, here) if here else (middle, high, found)
    return math.exp(high), found[0], found[1]
