"""Limits that the changes which ship have loosened or taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.domain.workload import Objective


@dataclass(frozen=True, slots=True)
class Loosened:
    """name: of the objective. before, after: its limit, SI; None where it was taken away. path: of its value.

    written: both as the spec has them.
    """

    name: str
    before: float
    after: float | None
    path: str
    written: tuple[str, str]

    @property
    def change(self) -> str:
        """ "from 25 ms to 40 ms"."""
        return f"from {self.written[0]} to {self.written[1]}"


def loosened(plan: Plan, result: PlanResult) -> tuple[Loosened, ...]:
    """Of the spec's limits against those of the plan that ships: a larger maximum, a smaller minimum, or none."""
    return tuple(_loosened(plan, result.detail.plan)) if result.detail is not None else ()


def _loosened(plan: Plan, shipped: Plan) -> Iterator[Loosened]:
    after = {_key(item): item for item in _limits(shipped)}
    for item in _limits(plan):
        found = after.get(_key(item))
        name = f"{item.name} of {item.request_class}" if item.request_class else item.name
        if found is None:
            yield Loosened(name, item.limit, None, item.path, (str(item.text), "none"))
        elif (found.limit > item.limit) if item.bound == "max" else (found.limit < item.limit):
            yield Loosened(name, item.limit, found.limit, item.path, (str(item.text), str(found.text)))


def _limits(plan: Plan) -> tuple[Objective, ...]:
    return (*plan.objectives.limits, *(limit for entry in plan.workload.classes for limit in entry.objectives))


def _key(item: Objective) -> tuple[str, str, str | None]:
    return item.name, item.bound, item.request_class
