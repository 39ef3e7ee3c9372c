"""What it costs: the accelerators by the hour, spread over what they serve."""

from __future__ import annotations

from planner.domain.evaluation import Cost, Latency, Throughput
from planner.domain.plan import Plan

HOURS_A_MONTH = 730.0


def evaluate(plan: Plan, throughput: Throughput, latency: Latency) -> Cost:
    """USD from the price of an accelerator, idle time included; watts from the rated power, an upper bound."""
    cards = plan.hardware.count * max(1, plan.hardware.replicas.minimum)
    price = plan.hardware.price_usd_per_hour
    hourly = price * cards if price is not None else None
    power = plan.hardware.accelerator.power_w
    watts = power * cards if power is not None else None
    output = throughput.output_tokens_per_s
    return Cost(
        usd_per_hour=hourly,
        usd_per_month=_times(hourly, HOURS_A_MONTH),
        usd_per_million_output_tokens=_spread(hourly, output, 1e6),
        usd_per_million_tokens=_spread(hourly, throughput.total_tokens_per_s, 1e6),
        usd_per_request=_spread(hourly, throughput.requests_per_s, 1.0),
        usd_total=_times(hourly, latency.completion_s / 3600.0) if latency.completion_s is not None else None,
        watts=watts,
        joules_per_output_token=watts / output if watts is not None and output else None,
    )


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _spread(usd_per_hour: float | None, per_second: float | None, unit: float) -> float | None:
    """USD an hour over (units per second x 3600)."""
    return usd_per_hour / (per_second * 3600.0) * unit if usd_per_hour is not None and per_second else None
