"""From how many tokens a month the hardware pays for itself against a price for tokens.

Hardware is billed by the hour: USD a month / (USD a million tokens) million tokens a month is the break-even. The
objective `cost_per_million_output_tokens` is read as what the tokens cost elsewhere, or may cost.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.cost import HOURS_A_MONTH
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import significant

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
