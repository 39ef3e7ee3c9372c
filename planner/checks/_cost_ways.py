"""Ways out of an objective on cost, energy or power, with the numbers that would meet it by the estimate."""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.domain.evaluation import ObjectiveOutcome, PlanResult
from planner.domain.plan import Plan
from planner.format import Dimension, percent, quantity, rate

METRICS = ("cost", "energy", "power")
_SATURATED = {
    "cost_per_million_output_tokens": "usd_per_million_output_tokens",
    "cost_per_million_tokens": "usd_per_million_tokens",
    "cost_per_request": "usd_per_request",
    "energy_per_output_token": "joules_per_output_token",
}


def hint(item: ObjectiveOutcome, plan: Plan, result: PlanResult) -> str:
    """What to change, with numbers where the limit is a most and there is a figure; then in words."""
    metric = item.objective.partition(".")[0]
    ways = tuple(_ways(metric, item, plan, result)) if item.bound == "max" and item.estimate and item.limit > 0 else ()
    if metric == "power":
        general = "fewer replicas or accelerators, a lower `hardware.power.limit`, or cooling with a lower `pue`"
    elif metric.startswith("energy"):
        general = "a larger batch, fewer accelerators, fewer bytes to read (quantised weights, cache), less idle time"
    else:
        general = "a larger batch, fewer or cheaper accelerators, or a declared `hardware.price`"
    return f"Any one of: {'; '.join((*ways, general))}." if ways else f"{general[0].upper()}{general[1:]}."


def _ways(metric: str, item: ObjectiveOutcome, plan: Plan, result: PlanResult) -> Iterator[str]:
    assert item.estimate is not None
    over = item.estimate / item.limit
    if over <= 1:
        return
    if metric == "power":
        yield from _power(item, plan, result)
        return
    if metric != "cost":
        yield from _load(metric, over, plan, result)
    if metric.startswith("cost"):
        yield from _replicas(over, plan, result)
        yield from _price(over, plan, result)


def _load(metric: str, over: float, plan: Plan, result: PlanResult) -> Iterator[str]:
    """More load on the same hardware: cost of a token falls with it, down to that of saturation."""
    cost, served = result.shipped.cost, result.shipped.throughput
    full = cost.saturation
    best = getattr(full, _SATURATED.get(metric, ""), None) if full is not None else None
    most, now = served.max_requests_per_s, served.requests_per_s
    if metric.startswith("cost") and most and now and now * over <= most:
        share = percent(now * over / most)
        yield f"a load of {rate(now * over, 'requests')} on the same hardware, {share} of what it serves"
    elif best is not None and cost.utilisation is not None and cost.utilisation < 1:
        dimension: Dimension = "usd" if metric.startswith("cost") else "joules"
        yield f"more load on the same hardware (at saturation it is {quantity(best, dimension)})"


def _replicas(over: float, plan: Plan, result: PlanResult) -> Iterator[str]:
    """Fewer replicas, where they serve the load all the same."""
    if plan.hardware.replicas.scales:
        return
    replicas, used = max(1, plan.hardware.replicas.minimum), result.shipped.cost.utilisation
    fewer = math.floor(replicas / over + 1e-9)
    if 1 <= fewer < replicas and used is not None and used * replicas / fewer <= 1:
        yield f"{fewer} replicas" if fewer > 1 else "1 replica"


def _price(over: float, plan: Plan, result: PlanResult) -> Iterator[str]:
    """A lower price, electricity aside."""
    price, cost = plan.hardware.price_usd_per_hour, result.shipped.cost
    if not price or not cost.usd_per_hour:
        return
    electricity = cost.electricity_usd_per_hour or 0.0
    wanted = (cost.usd_per_hour / over - electricity) / (cost.usd_per_hour - electricity) * price
    if wanted > 0:
        yield f"an accelerator at {quantity(wanted, 'usd/hour')}"


def _power(item: ObjectiveOutcome, plan: Plan, result: PlanResult) -> Iterator[str]:
    """A cap that holds whatever runs: what is left for each accelerator beside hosts and idle spares."""
    hardware, power = plan.hardware, result.shipped.cost.power
    if power is None:
        return
    replicas = max(1, result.detail.paid.hardware.replicas.minimum)
    beside = hardware.spares * power.accelerator_idle_watts + replicas * (hardware.power.host_w or 0.0)
    cap = math.floor((item.limit / hardware.power.pue - beside) / (replicas * hardware.count))
    if cap > power.accelerator_idle_watts:
        yield f"`hardware.power.limit: {cap} W`, which slows the phases that need more"
