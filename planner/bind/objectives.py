"""The `objectives` section to limits in SI units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner import units
from planner.domain.workload import STATISTICS, Objective, Objectives

LATENCIES = (
    "time_to_first_token",
    "inter_token_latency",
    "time_per_output_token",
    "request_latency",
    "session_latency",
    "completion_time",
)
# metric -> dimension of its limit
BOUNDED = {
    "goodput": "request-rate",
    "output_tokens_per_second": "token-rate",
    "output_tokens_per_second_per_user": "token-rate",
    "cost_per_million_output_tokens": "money",
    "cost_per_million_tokens": "money",
    "cost_per_request": "money",
    "energy_per_output_token": "energy",
    "energy_per_request": "energy",
    "power": "power",
    "rejected_requests": "share",
    "memory_headroom": "share",
}


def objectives_of(section: Mapping[str, Any], request_class: str | None = None, prefix: str = "") -> Objectives:
    """Every limit of the section. `prefix`: the pointer of what holds the section."""
    limits = tuple(_limits(section, request_class, f"{prefix}/objectives"))
    return Objectives(limits, int(section.get("replicas_down", 0)))


def _limits(section: Mapping[str, Any], name: str | None, pointer: str) -> Iterator[Objective]:
    for metric, value in section.items():
        if metric == "replicas_down" or not isinstance(value, Mapping):
            continue
        path = f"{pointer}/{metric}"
        if metric == "deadline":
            fallback = value.get("fallback")
            yield Objective(metric, "max", "max", units.si(value["max"], "time"), name, value["max"], path, fallback)
        elif metric in LATENCIES:
            yield from _latencies(metric, value, name, path)
        elif metric == "cost":
            yield from _costs(value, name, path)
        elif metric in BOUNDED:
            yield from _bounds(metric, value, name, path)


def _latencies(metric: str, value: Mapping[str, Any], name: str | None, path: str) -> Iterator[Objective]:
    for statistic in STATISTICS:
        if statistic in value:
            text = value[statistic]
            limit = units.si(text, "time")
            yield Objective(metric, statistic, "max", limit, name, text, f"{path}/{statistic}")


def _bounds(metric: str, value: Mapping[str, Any], name: str | None, path: str) -> Iterator[Objective]:
    if "max" in value:
        yield Objective(
            metric, None, "max", units.si(value["max"], BOUNDED[metric]), name, str(value["max"]), f"{path}/max"
        )
    if "min" in value:
        yield Objective(
            metric, None, "min", units.si(value["min"], BOUNDED[metric]), name, str(value["min"]), f"{path}/min"
        )


def _costs(value: Mapping[str, Any], name: str | None, path: str) -> Iterator[Objective]:
    if "max" in value:
        amount, period = units.cost(value["max"])
        yield Objective("cost", None, "max", amount, name, str(value["max"]), f"{path}/max", period=period)
