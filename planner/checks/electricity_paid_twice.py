"""Electricity is added to a price that has it in it already.

The catalogue's prices are those of clouds: host, cooling and electricity included. `electricity_price` is for
hardware that is owned or leased without power, with a `hardware.price` of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import quantity

ID = "electricity-paid-twice"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: cloud-and-electricity}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: h100-sxm, power: {electricity_price: 0.12 USD/kWh}}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("accelerator: h100-sxm,", "accelerator: h100-sxm, price: 1.10 USD/hour,")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    paid, origin = result.shipped.cost.electricity_usd_per_hour, plan.origins.get("price")
    if paid is None or origin is None or origin.word != "catalogue":
        return
    yield Finding(
        ID,
        SEVERITY,
        f"the catalogue's price is a cloud's and has electricity in it; {quantity(paid, 'usd/hour')} are added",
        "Declare hardware.price without electricity, or remove electricity_price.",
        "/hardware/power/electricity_price",
        {"electricity_usd_per_hour": paid},
    )
