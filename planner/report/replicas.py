"""Replicas: how many serve, what each pool has, and what holds while some of them are missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from planner.domain.evaluation import Disturbed, ObjectiveOutcome, PlanResult
from planner.domain.plan import Plan
from planner.format import count, duration, memory, quantity, rate
from planner.report.margins import dimension_of
from planner.report.report_model import Cell, Column, ReplicaSection, Row, Table

WHAT = {
    "replicas-down": "replicas lost",
    "rolling-update": "an update replaces the pods",
    "rise-to-peak": "the load rises to its peak",
}
TONES = {"met": "good", "at-risk": "warn", "missed": "bad", "unknown": "info"}


def section(plan: Plan, result: PlanResult) -> ReplicaSection | None:
    """None where one replica serves and nothing is asked of it but to be there."""
    detail = result.detail
    if detail is None or not (result.disturbed or detail.served.pools or plan.hardware.replicas.scales):
        return None
    return ReplicaSection(_sentence(plan, result), _pools(detail.served.pools), _missing(result.disturbed))


def _sentence(plan: Plan, result: PlanResult) -> str:
    declared, serving = plan.hardware.replicas, result.detail.replicas
    if result.detail.served.pools:
        return f"{count(serving)} replicas in two pools: one computes prompts, the other answers."
    if not declared.scales:
        return f"{count(serving)} {'replica serves' if serving == 1 else 'replicas serve'}."
    paid = max(1, result.detail.paid.hardware.replicas.minimum)
    mean = "" if paid == serving else f", {count(paid)} at its mean rate, which is what is paid for"
    return (
        f"Scaling settles at {count(serving)} of {count(declared.minimum)} to {count(declared.maximum)} replicas "
        f"at the declared load{mean}."
    )


def _pools(pools: Mapping[str, Any]) -> Table | None:
    if not pools:
        return None
    heads = ("Pool", "Replicas", "Accelerators", "Weights", "Cache pool", "Requests a second at most")
    columns = tuple(Column(title, title != "Pool") for title in heads)
    return Table("Pools", columns, tuple(_pool(name, pool) for name, pool in pools.items()))


def _pool(name: str, pool: Any) -> Row:
    found, plan, replicas = pool.ledger.memory, pool.plan, pool.replicas
    most = pool.served.throughput.max_requests_per_s
    cards = plan.hardware.count * replicas
    return Row(
        (
            Cell(name),
            Cell(count(replicas), replicas),
            Cell(count(cards), cards),
            Cell(memory(found.weights_bytes), found.weights_bytes),
            Cell(memory(found.kv_pool_bytes), found.kv_pool_bytes),
            Cell("n/a" if most is None else rate(most, "requests"), most),
        )
    )


def _missing(disturbed: tuple[Disturbed, ...]) -> Table | None:
    """One row an objective and event."""
    if not disturbed:
        return None
    heads = ("While", "Replicas that serve", "Objective", "Figure", "Limit", "Outcome", "Lasts", "Holds again after")
    numbers = ("Replicas that serve", "Figure", "Limit", "Lasts", "Holds again after")
    columns = tuple(Column(title, title in numbers) for title in heads)
    return Table("While replicas are missing", columns, tuple(row for found in disturbed for row in _rows(found)))


def _rows(found: Disturbed) -> Iterator[Row]:
    what = WHAT.get(found.what, found.what) + (f" ({found.pool} pool)" if found.pool else "")
    again = "n/a" if found.recovers_s is None else _again(found.recovers_s)
    for item in found.objectives:
        yield Row(
            (
                Cell(what),
                Cell(f"{count(found.serving)} of {count(found.of)}"),
                Cell(f"{item.objective} of {item.request_class}" if item.request_class else item.objective),
                Cell(_figure(item, item.estimate), item.estimate),
                Cell(_figure(item, item.limit), item.limit),
                Cell(item.outcome, tone=TONES.get(item.outcome, "")),
                Cell("n/a" if found.lasts_s is None else duration(found.lasts_s), found.lasts_s),
                Cell(again),
            )
        )


def _again(seconds: float) -> str:
    return "not within the run" if math.isinf(seconds) else duration(seconds)


def _figure(item: ObjectiveOutcome, value: float | None) -> str:
    return quantity(value, dimension_of(item.objective))
