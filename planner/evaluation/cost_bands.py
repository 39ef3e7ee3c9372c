"""Bands of cost and energy, from those of speed and of power.

A closed loop's tokens are as uncertain as its speed. An open load that holds serves what comes: its tokens are exact,
unless the capacity at the low end of its band is less than what comes. Power: the band of the constants; where the
accelerators wait part of the time, how long they wait is as uncertain as the latency.
"""

from __future__ import annotations

from dataclasses import replace

from planner.domain.cost import Cost, Power
from planner.domain.evaluation import Bands, Throughput
from planner.domain.plan import Plan

Band = tuple[float, float]
EXACT: Band = (1.0, 1.0)
OPEN = ("rate", "trace", "period")


def with_cost(plan: Plan, bands: Bands, cost: Cost, throughput: Throughput, *, overloaded: bool) -> Bands:
    """`bands` with those of cost, hourly cost, power and energy."""
    low, high = _served(plan, bands, throughput, overloaded)
    token = (1.0 / high, 1.0 / low) if low > 0 else (1.0 / high, float("inf"))
    power = _power(plan, cost, bands.latency)
    hourly = _hourly(cost, power)
    return replace(bands, cost=_product(hourly, token), hourly=hourly, power=power, energy=_product(power, token))


def _served(plan: Plan, bands: Bands, throughput: Throughput, overloaded: bool) -> Band:
    load = plan.workload.load
    if load.kind not in OPEN or load.requests is not None or overloaded:
        return bands.throughput
    offered, most = throughput.requests_per_s, throughput.max_requests_per_s
    if not offered or not most:
        return bands.throughput
    return min(most * bands.throughput[0] / offered, 1.0), 1.0


def _power(plan: Plan, cost: Cost, latency: Band) -> Band:
    """Of accelerators that serve: never above their limit, never below their idling. Hosts and spares are constant."""
    power = cost.power
    if power is None or not cost.watts:
        return EXACT
    prefill = cost.prefill_share or 0.0
    mean = _accelerator_w(power, prefill, power.busy)
    low = _accelerator_w(power, prefill, power.busy * latency[0] if power.busy < 1 else 1.0) * power.band[0]
    high = _accelerator_w(power, prefill, min(power.busy * latency[1], 1.0)) * power.band[1]
    least, most = min(power.accelerator_idle_watts, mean), max(power.accelerator_limit_watts, mean)
    serving = plan.hardware.count * max(1, plan.hardware.replicas.minimum)
    beside = cost.watts - serving * mean
    return (beside + serving * max(low, least)) / cost.watts, (beside + serving * min(high, most)) / cost.watts


def _accelerator_w(power: Power, prefill_share: float, busy: float) -> float:
    """Mean of one accelerator that is busy for so much of the time."""
    prefill = power.accelerator_prefill_watts or power.accelerator_decode_watts
    running = prefill_share * prefill + (1.0 - prefill_share) * power.accelerator_decode_watts
    return (1.0 - busy) * power.accelerator_idle_watts + busy * running


def _hourly(cost: Cost, power: Band) -> Band:
    """Exact but for the electricity."""
    total, electricity = cost.usd_per_hour, cost.electricity_usd_per_hour
    if not total or not electricity:
        return EXACT
    fixed = total - electricity
    return (fixed + electricity * power[0]) / total, (fixed + electricity * power[1]) / total


def _product(first: Band, second: Band) -> Band:
    return first[0] * second[0], first[1] * second[1]
