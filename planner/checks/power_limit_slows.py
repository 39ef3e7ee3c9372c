"""Accelerators are capped below what a phase draws uncapped, so its steps take longer than the figures say.

The constants of time are of accelerators at their rated power. A capped one lowers its clocks: prefill, which
arithmetic binds, slows by about what it lacks; decode, which memory binds, by much less. Measure with the cap on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.phases import phases_of
from planner.evaluation.power import draw
from planner.findings import Finding, Severity
from planner.format import quantity

ID = "power-limit-slows"
SEVERITY = Severity.WARNING
# Prefill comes near 400 W.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: capped}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}, power: 400 W}
  power: {limit: 250 W}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 4}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 100}]}
"""
PASSING = FAILING.replace("limit: 250 W", "limit: 400 W")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    supply, served = plan.hardware.power, result.detail.served
    if supply.limit_w is None:
        return
    free = replace(plan, hardware=replace(plan.hardware, power=replace(supply, limit_w=None)))
    drawn = draw(free, phases_of(served.service, served.operating.batch), 1.0)
    if drawn is None:
        return
    phases = (("prefill", drawn.prefill_w), ("decode", drawn.decode_w))
    capped = [(name, watts) for name, watts in phases if watts is not None and watts > supply.limit_w * (1 + 1e-9)]
    if not capped:
        return
    told = " and ".join(f"{name} {quantity(watts, 'watts')}" for name, watts in capped)
    yield Finding(
        ID,
        SEVERITY,
        f"uncapped, {told} of an accelerator are above the limit of {quantity(supply.limit_w, 'watts')}: "
        "steps take longer than estimated",
        f"A limit of {quantity(max(watts for _, watts in capped), 'watts')} or more; or measure with the cap on.",
        "/hardware/power/limit",
        {"limit_watts": supply.limit_w, **{f"{name}_watts": watts for name, watts in capped}},
    )
