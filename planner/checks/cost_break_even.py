"""From how many tokens a month the hardware pays for itself against a price for tokens.

Hardware is billed by the hour, so break-even is USD a month over what the same tokens cost elsewhere: `api_price`,
by prompt, cached and output tokens; where none is declared, the objective `cost_per_million_output_tokens` is read as
what the tokens cost elsewhere, or may cost.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.cost import HOURS_A_MONTH, BreakEven
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import percent, significant
from planner.quoting import quoted

ID = "cost-break-even"
SEVERITY = Severity.NOTE
# 2 USD/hour x 730 hour = 1460 USD; at 10 USD a million, 146 million tokens.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: against-a-price}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}, price: 2 USD/hour}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {rate: 1 request/s}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
objectives: {cost_per_million_output_tokens: {max: 10 USD}}
"""
PASSING = FAILING.replace("cost_per_million_output_tokens: {max: 10 USD}", "cost: {max: 3 USD/hour}")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    even = result.shipped.cost.break_even
    if even is not None:
        yield _against_service(plan, even)
    else:
        yield from _against_objective(plan, result)


def _against_service(plan: Plan, even: BreakEven) -> Finding:
    assert plan.api_price is not None
    name = f" of {quoted(plan.api_price.name)}" if plan.api_price.name else ""
    here = ""
    if even.api_usd_per_month is not None and even.cheaper is not None:
        costs = f"{significant(even.api_usd_per_month)} USD there"
        here = f"; at the declared load {even.cheaper} is cheaper ({costs}, {significant(even.usd_per_month)} USD here)"
    share = even.utilisation
    of = "" if share is None else f", {percent(share)} of what it serves" if share <= 1 else ", more than it serves"
    return Finding(
        ID,
        SEVERITY,
        f"against the service's price{name} of {plan.api_price.date}, hosting pays from "
        f"{significant(even.tokens_per_month / 1e6)} million tokens a month on{of}{here}",
        _way(even),
        "/api_price",
        {
            "break_even_tokens_per_month": even.tokens_per_month,
            "break_even_requests_per_month": even.requests_per_month,
            "utilisation": share,
            "api_usd_per_request": even.api_usd_per_request,
            "api_usd_per_month": even.api_usd_per_month,
            "usd_per_month": even.usd_per_month,
        },
    )


def _way(even: BreakEven) -> str:
    if even.cheaper == "service":
        if even.utilisation is not None and even.utilisation > 1:
            return "Cheaper hardware, or levers that serve more on it: no load makes this hardware pay."
        return "More load on the same hardware, fewer or cheaper accelerators, or the service."
    return "Below that many tokens a month the service is cheaper."


def _against_objective(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    cost, tokens = result.shipped.cost, result.shipped.throughput.output_tokens_per_s
    limits = [item for item in plan.objectives.limits if item.metric == "cost_per_million_output_tokens"]
    if not limits or cost.usd_per_month is None or limits[0].limit <= 0:
        return
    even = cost.usd_per_month / limits[0].limit * 1e6
    planned = tokens * 3600.0 * HOURS_A_MONTH if tokens is not None else None
    here = f"; the declared load is {significant(planned / 1e6)} million" if planned is not None else ""
    yield Finding(
        ID,
        SEVERITY,
        f"{significant(cost.usd_per_month)} USD a month is {significant(even / 1e6)} million output tokens at "
        f"{limits[0].limit:g} USD a million{here}",
        "Below that many tokens a month the hardware costs more than the tokens may.",
        limits[0].path or "/objectives/cost_per_million_output_tokens",
        {
            "break_even_tokens_per_month": even,
            "break_even_tokens_per_s": even / 3600.0 / HOURS_A_MONTH,
            "tokens_per_month": planned,
            "usd_per_month": cost.usd_per_month,
            "usd_per_million": limits[0].limit,
        },
    )
