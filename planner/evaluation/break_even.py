"""From how many tokens a month on hosting is cheaper than a service that charges by the token.

    API USD a request = ((prompt - cached) x input + cached x cached price + output x output price) / 1e6
    requests a month  = USD a month of the hardware / API USD a request
    utilisation       = requests a month / what the hardware serves in a month

Hardware is billed whether or not it serves, so its USD a month are those of the declared load at any load.
"""

from __future__ import annotations

import math

from planner.domain.cost import HOURS_A_MONTH, BreakEven
from planner.domain.evaluation import Throughput
from planner.domain.plan import Plan
from planner.domain.workload import RequestClass
from planner.evaluation.mix import Mix, prompt_tokens

SECONDS_A_MONTH = HOURS_A_MONTH * 3600.0


def evaluate(plan: Plan, throughput: Throughput, mix: Mix, usd_per_month: float | None) -> BreakEven | None:
    """None where the spec compares with no service, or gives neither prompts nor a price of the hardware."""
    price = plan.api_price
    if price is None or usd_per_month is None or not mix.has_prompt:
        return None
    request = price.request_usd(mix.prompt, cached_by_service(mix), mix.output)
    if request <= 0:
        return None
    even = usd_per_month / request
    most, rate = throughput.max_requests_per_s, throughput.requests_per_s
    service = rate * SECONDS_A_MONTH * request if rate is not None else None
    return BreakEven(
        api_usd_per_request=request,
        requests_per_month=even,
        tokens_per_month=even * (mix.prompt + mix.output),
        utilisation=even / (most * SECONDS_A_MONTH) if most else None,
        api_usd_per_month=service,
        usd_per_month=usd_per_month,
        cheaper=None if service is None else "service" if service < usd_per_month else "hosting",
    )


def cached_by_service(mix: Mix) -> float:
    """Prompt tokens of the mean request that a service finds in its cache: what the classes declare as shared."""
    return math.fsum(share * _shared(item) for share, item in zip(mix.shares, mix.classes, strict=True))


def _shared(item: RequestClass) -> float:
    if item.prefix is None or item.prompt is None:
        return 0.0
    if item.prefix.hit_rate is not None:
        return item.prefix.hit_rate * prompt_tokens(item)
    return min(item.prefix.shared_tokens or 0.0, prompt_tokens(item))
