"""A price is more than a quarter older than the day for which the plan speaks.

List prices move: p4de.24xlarge went from 40.97 to 27.45 USD an hour in sixteen months. The age is taken against the
spec's `metadata.date`, never against the clock, so that a committed report says the same every day; without a date
nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.quoting import quoted

ID = "price-stale"
SEVERITY = Severity.WARNING
QUARTER_DAYS = 92
# From 2025-03-01 to 2026-09-01 are 549 days.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: old-price, date: 2026-09-01}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}
  price: 2 USD/hour
  price_date: 2025-03-01
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("price_date: 2025-03-01", "price_date: 2026-07-01")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    declared = plan.origins["price"].word == "declared" if "price" in plan.origins else False
    hint = "Read the price anew, and declare hardware.price with its hardware.price_date."
    if plan.hardware.price_usd_per_hour is not None:
        what = "the price of the hardware" if declared else "the catalogue's price of the hardware"
        path = "/hardware/price_date" if declared else "/hardware/accelerator"
        yield from _aged(plan.date, plan.hardware.price_date, what, path, hint)
    if plan.api_price is not None:
        name = f" of {quoted(plan.api_price.name)}" if plan.api_price.name else ""
        what = f"the service's price{name}"
        yield from _aged(plan.date, plan.api_price.date, what, "/api_price/date", "Read the service's price anew.")


def _aged(today: str, then: str, what: str, path: str, hint: str) -> Iterator[Finding]:
    if not today or not then:
        return
    days = (date.fromisoformat(today) - date.fromisoformat(then)).days
    if days <= QUARTER_DAYS:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"{what} is of {then}, {days} days before the plan's own date, {today}: more than a quarter",
        hint,
        path,
        {"days": days, "price_date": then, "plan_date": today},
    )
