"""What it costs: the accelerators by the hour, spread over what they serve, idle time included.

    USD a million tokens = USD an hour / (tokens a second x 3600) x 1e6

The split between input and output tokens is by engine time (`planner.evaluation.phases`): with s the prefill's share,
input tokens carry s of the cost and output tokens the rest.
"""

from __future__ import annotations

import math

from planner.domain.cost import HOURS_A_MONTH, Cost, Power, Saturation
from planner.domain.plan import Plan
from planner.evaluation import break_even
from planner.evaluation.latency import Served
from planner.evaluation.mix import Mix
from planner.evaluation.phases import phases_of
from planner.evaluation.power import Draw, busy_of, draw, most_w
from planner.evaluation.ranks import engines_of


def evaluate(plan: Plan, served: Served, seats: float) -> Cost:
    """Of a configured plan. seats: sequences that one rank can run together."""
    throughput, mix = served.throughput, served.service.mix
    phases = phases_of(served.service, served.operating.batch)
    busy = busy_of(plan, throughput, served.latency, engines_of(plan))
    drawn = draw(plan, phases, busy)
    least, most = max(1, plan.hardware.replicas.minimum), max(1, plan.hardware.replicas.most)
    electricity = _electricity(plan, drawn, least)
    hourly = _hourly(plan, least, electricity)
    rate, output = throughput.requests_per_s, throughput.output_tokens_per_s
    request = _spread(hourly, rate)
    inward, outward = _split(request, phases.prefill_share if mix.has_prompt else None, mix)
    watts, capacity = drawn.mean_w if drawn else None, throughput.max_requests_per_s
    completion = served.latency.completion_s
    return Cost(
        usd_per_hour=hourly,
        usd_per_month=_times(hourly, HOURS_A_MONTH),
        usd_per_million_output_tokens=_times(_spread(hourly, output), 1e6),
        usd_per_million_tokens=_times(_spread(hourly, throughput.total_tokens_per_s), 1e6),
        usd_per_request=request,
        usd_total=_times(hourly, completion / 3600.0) if completion is not None else None,
        watts=watts,
        joules_per_output_token=watts / output if watts is not None and output else None,
        usd_per_hour_most=_hourly(plan, most, _electricity(plan, drawn, most)),
        electricity_usd_per_hour=electricity,
        usd_per_session=_times(request, turns_of(mix)),
        split_usd_per_million_input_tokens=inward,
        split_usd_per_million_output_tokens=outward,
        prefill_share=phases.prefill_share if mix.has_prompt else None,
        utilisation=rate / capacity if rate is not None and capacity else None,
        joules_per_request=watts / rate if watts is not None and rate else None,
        saturation=_saturation(plan, served, seats),
        power=_power(plan, drawn, busy),
        break_even=break_even.evaluate(plan, throughput, mix, _times(hourly, HOURS_A_MONTH)),
    )


def _saturation(plan: Plan, served: Served, seats: float) -> Saturation | None:
    """Every seat taken: the highest rate, the largest batch, no time without a step."""
    rate, mix = served.throughput.max_requests_per_s, served.service.mix
    if not rate or not mix.has_prompt:
        return None
    phases = phases_of(served.service, max(min(seats, 4096.0), 1.0))
    drawn = draw(plan, phases, 1.0)
    replicas = max(1, plan.hardware.replicas.most)
    hourly = _hourly(plan, replicas, _electricity(plan, drawn, replicas))
    request = _spread(hourly, rate)
    inward, outward = _split(request, phases.prefill_share, mix)
    watts = _watts(plan, drawn, replicas) if drawn else None
    return Saturation(
        requests_per_s=rate,
        prefill_share=phases.prefill_share,
        usd_per_request=request,
        usd_per_million_output_tokens=_times(_spread(hourly, rate * mix.output), 1e6),
        usd_per_million_tokens=_times(_spread(hourly, rate * (mix.output + mix.prompt)), 1e6),
        split_usd_per_million_input_tokens=inward,
        split_usd_per_million_output_tokens=outward,
        watts=watts,
        joules_per_output_token=watts / (rate * mix.output) if watts is not None else None,
    )


def _power(plan: Plan, drawn: Draw | None, busy: float) -> Power | None:
    if drawn is None:
        return None
    hungrier = max(drawn.decode_w, drawn.prefill_w or 0.0)
    return Power(
        accelerator_limit_watts=drawn.rating.limit_w,
        accelerator_idle_watts=drawn.idle_w,
        accelerator_decode_watts=drawn.decode_w,
        accelerator_prefill_watts=drawn.prefill_w,
        busy=busy,
        facility_watts=drawn.mean_w * plan.hardware.power.pue,
        peak_watts=most_w(plan.hardware, hungrier, drawn.idle_w),
        limit_watts=most_w(plan.hardware, drawn.rating.limit_w, drawn.idle_w),
        band=drawn.figures.band,
    )


def turns_of(mix: Mix) -> float | None:
    """Requests of a session: 1 / sum(share / turns) over the classes. None where a class has no sessions."""
    turns = [item.session.turns for item in mix.classes if item.session is not None]
    if len(turns) < len(mix.classes) or not turns:
        return None
    return 1.0 / math.fsum(share / number for share, number in zip(mix.shares, turns, strict=True))


def _hourly(plan: Plan, replicas: int, electricity: float | None) -> float | None:
    """USD an hour of so many replicas and the spares. electricity: USD an hour."""
    price, hardware = plan.hardware.price_usd_per_hour, plan.hardware
    return None if price is None else price * (hardware.count * replicas + hardware.spares) + (electricity or 0.0)


def _electricity(plan: Plan, drawn: Draw | None, replicas: int) -> float | None:
    """USD an hour: mean watts x PUE x 3600 s x USD a joule."""
    price, hardware = plan.hardware.power.electricity_usd_per_j, plan.hardware
    if price is None or drawn is None:
        return None
    return _watts(plan, drawn, replicas) * hardware.power.pue * 3600.0 * price


def _watts(plan: Plan, drawn: Draw, replicas: int) -> float:
    """Of so many replicas, which draw alike, and of the spares, which idle."""
    hardware = plan.hardware
    spares = hardware.spares * drawn.idle_w
    return (drawn.mean_w - spares) * replicas / max(1, hardware.replicas.minimum) + spares


def _split(request_usd: float | None, prefill: float | None, mix: Mix) -> tuple[float | None, float | None]:
    """(USD a million input tokens, USD a million output tokens), by engine time; input counts cached tokens too."""
    if request_usd is None or prefill is None or not mix.prompt or not mix.output:
        return None, None
    return request_usd * prefill / mix.prompt * 1e6, request_usd * (1.0 - prefill) / mix.output * 1e6


def _times(value: float | None, factor: float | None) -> float | None:
    return None if value is None or factor is None else value * factor


def _spread(usd_per_hour: float | None, per_second: float | None) -> float | None:
    """USD an hour over (units a second x 3600)."""
    return usd_per_hour / (per_second * 3600.0) if usd_per_hour is not None and per_second else None
