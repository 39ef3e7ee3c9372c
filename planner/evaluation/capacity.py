"""The largest rate at which every objective still holds, by bisection on simulated runs.

    low = 0, high = what the seats serve; a rate holds when no objective is missed by its estimate

More requests never shorten a wait (a law that the tests of `planner.traffic` hold), so what holds at a rate holds
below it. Runs are shorter than those of the figures, and the answer is good to two digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.domain.evaluation import ObjectiveOutcome
from planner.domain.plan import Plan
from planner.domain.workload import Load

if TYPE_CHECKING:
    from planner.evaluation import Detail

ROUNDS = 7
"""Halvings: 1/128 of the largest rate that the seats serve."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """requests_per_s: largest rate that holds, over the deployment, or 0, of what the load counts (requests, sessions).

    breaks: objectives missed above it.
    """

    requests_per_s: float
    breaks: tuple[str, ...]
    served_at_most_per_s: float


def known_largest_rate(detail: Detail) -> Capacity | None:
    """`largest_rate` of what was evaluated, searched once."""
    if "largest_rate" not in detail.memo:
        detail.memo["largest_rate"] = largest_rate(detail.plan)
    found: Capacity | None = detail.memo["largest_rate"]
    return found


def largest_rate(plan: Plan) -> Capacity | None:
    """Of a configured plan whose load is a rate; None where the load is another or capacity is not known."""
    from planner.evaluation import detail

    load = plan.workload.load
    if load.kind != "rate" or not load.rate_per_s:
        return None
    closed = detail(plan)
    most = closed.evaluation.throughput.max_requests_per_s
    if not most:
        return None
    most /= load.peak * closed.served.service.mix.turns
    low, high = 0.0, most
    breaks: tuple[str, ...] = ("capacity",)
    for _ in range(ROUNDS):
        middle = (low + high) / 2.0
        missed = _missed(plan, middle)
        if missed:
            high, breaks = middle, missed
        else:
            low = middle
    return Capacity(low, breaks, most)


def at_rate(plan: Plan, rate_per_s: float) -> Plan:
    """The plan under another total rate; classes with rates of their own keep their shares of it."""
    load = plan.workload.load
    factor = rate_per_s / (load.rate_per_s or 1.0)
    classes = tuple(
        replace(item, load=_scaled(item.load, factor)) if item.load is not None else item
        for item in plan.workload.classes
    )
    return replace(plan, workload=replace(plan.workload, load=_scaled(load, factor), classes=classes))


def _scaled(load: Load, factor: float) -> Load:
    return replace(load, rate_per_s=load.rate_per_s * factor) if load.rate_per_s is not None else load


def _missed(plan: Plan, rate_per_s: float) -> tuple[str, ...]:
    """Objectives that the estimate misses at a rate, or "capacity" where the queue grows."""
    from planner.evaluation import detail

    found = detail(at_rate(plan, rate_per_s), simulate=True)
    if found.served.operating.overloaded:
        return ("capacity",)
    return tuple(item.objective for item in found.evaluation.objectives if not held(item))


RATE_FREE = (
    "cost",
    "cost_per_million_output_tokens",
    "cost_per_million_tokens",
    "cost_per_request",
    "energy_per_output_token",
    "energy_per_request",
    "memory_headroom",
    "output_tokens_per_second",
    "goodput",
)
"""Objectives that a lower rate does not help, or harms: they do not bound the rate from above."""


def held(item: ObjectiveOutcome) -> bool:
    """By the estimate, not by its band."""
    if item.objective in RATE_FREE or item.estimate is None:
        return True
    return item.estimate <= item.limit if item.bound == "max" else item.estimate >= item.limit
