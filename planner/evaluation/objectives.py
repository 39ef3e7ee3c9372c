"""Objectives against estimates: met, at risk or missed by the band."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.domain.cost import Cost
from planner.domain.evaluation import Bands, Latency, Memory, ObjectiveOutcome, Throughput
from planner.domain.plan import Plan
from planner.domain.workload import Objective

EXACT = 1e-9


def judge(
    plan: Plan,
    memory: Memory,
    latency: Latency,
    throughput: Throughput,
    cost: Cost,
    bands: Bands,
    classes: Mapping[str, tuple[Latency, Throughput]],
    *,
    overloaded: bool,
) -> tuple[ObjectiveOutcome, ...]:
    """Every objective, those of classes with that class's figures."""
    return tuple(_outcomes(plan, memory, latency, throughput, cost, bands, classes, overloaded))


def _outcomes(
    plan: Plan,
    memory: Memory,
    latency: Latency,
    throughput: Throughput,
    cost: Cost,
    bands: Bands,
    classes: Mapping[str, tuple[Latency, Throughput]],
    overloaded: bool,
) -> Iterator[ObjectiveOutcome]:
    for objective, own in _limits(plan, classes, (latency, throughput)):
        known = plan.workload.load.kind != "offline" or objective.metric not in WAITED_FOR
        estimate = _estimate(objective, memory, *own, cost) if known else None
        yield _outcome(objective, estimate, _band(objective, bands), overloaded)


def _limits(
    plan: Plan, classes: Mapping[str, tuple[Latency, Throughput]], whole: tuple[Latency, Throughput]
) -> Iterator[tuple[Objective, tuple[Latency, Throughput]]]:
    """Every objective, and the figures that it is held against."""
    for objective in plan.objectives.limits:
        yield objective, whole
    for item in plan.workload.classes:
        for objective in item.objectives:
            yield objective, classes.get(item.name, whole)


PER_TOKEN = (
    "cost_per_million_output_tokens",
    "cost_per_million_tokens",
    "cost_per_request",
    "energy_per_output_token",
    "energy_per_request",
)
LATENCY_FIELDS = {
    "time_to_first_token": "time_to_first_token_s",
    "inter_token_latency": "inter_token_latency_s",
    "time_per_output_token": "time_per_output_token_s",
    "request_latency": "request_latency_s",
    "session_latency": "session_latency_s",
}


WAITED_FOR = frozenset({*LATENCY_FIELDS, "deadline", "output_tokens_per_second_per_user"})
"""What nobody waits for in an endless queue: there it is what the seats make it, so more memory would make it worse."""


def _estimate(
    objective: Objective, memory: Memory, latency: Latency, throughput: Throughput, cost: Cost
) -> float | None:
    metric = objective.metric
    if metric in LATENCY_FIELDS:
        value: float | None = getattr(latency, LATENCY_FIELDS[metric]).at(objective.statistic or "mean")
        return value
    if metric == "deadline":
        return latency.request_latency_s.max
    if metric == "completion_time":
        return latency.completion_s
    if metric == "memory_headroom":
        return None if memory.free_bytes is None else memory.free_bytes / memory.usable_bytes
    if metric == "cost":
        return cost.usd_total if objective.period == "total" else cost.usd_per_hour
    if metric == "goodput":
        good = throughput.goodput_requests_per_s
        return throughput.requests_per_s if good is None else good
    return {
        "output_tokens_per_second": throughput.output_tokens_per_s,
        "output_tokens_per_second_per_user": throughput.output_tokens_per_s_per_user,
        "cost_per_million_output_tokens": cost.usd_per_million_output_tokens,
        "cost_per_million_tokens": cost.usd_per_million_tokens,
        "cost_per_request": cost.usd_per_request,
        "energy_per_output_token": cost.joules_per_output_token,
        "energy_per_request": cost.joules_per_request,
        "power": cost.power.facility_watts if cost.power else None,
        "rejected_requests": throughput.rejected_fraction,
    }.get(metric)


def _band(objective: Objective, bands: Bands) -> tuple[float, float]:
    """Cost and energy per token move against throughput; per-user speed against latency; counts are exact."""
    metric = objective.metric
    if metric == "time_to_first_token":
        return bands.first_token
    if metric in ("request_latency", "session_latency", "deadline"):
        return bands.request
    if metric in LATENCY_FIELDS:
        return bands.latency
    if metric == "completion_time":
        return 1 / bands.throughput[1], 1 / bands.throughput[0]
    if metric == "output_tokens_per_second_per_user":
        return 1 / bands.latency[1], 1 / bands.latency[0]
    if metric in ("output_tokens_per_second", "goodput"):
        return bands.throughput
    if metric == "cost":
        return bands.cost if objective.period == "total" else bands.hourly
    if metric == "power":
        return bands.power
    if metric in PER_TOKEN:
        return bands.energy if metric.startswith("energy") else bands.cost
    return (1.0, 1.0)


def _outcome(
    objective: Objective, estimate: float | None, band: tuple[float, float], overloaded: bool
) -> ObjectiveOutcome:
    if estimate is None:
        # Where the load reaches capacity no latency exists: the promise is broken, not unknown.
        word = "missed" if overloaded else "unknown"
        return _made(objective, None, None, None, word)
    low, high = estimate * band[0], estimate * band[1]
    slack = EXACT * abs(objective.limit)
    worst, best = (high, low) if objective.bound == "max" else (-low, -high)
    limit = objective.limit if objective.bound == "max" else -objective.limit
    word = "met" if worst <= limit + slack else "missed" if best > limit + slack else "at-risk"
    return _made(objective, estimate, low, high, word)


def _made(
    objective: Objective, estimate: float | None, low: float | None, high: float | None, word: str
) -> ObjectiveOutcome:
    return ObjectiveOutcome(
        objective.name,
        objective.request_class,
        objective.limit,
        estimate,
        low,
        high,
        word,
        objective.bound,
        objective.path,
    )
