"""The accelerators and their hosts draw more than the rack, or everything together, may.

Prompts come together: what counts is every replica in its hungrier phase at once, which for prefill is near the limit
of the accelerators. Decode draws well below it, so a budget below the rated power can hold, but only a power cap
makes sure of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.domain.cost import Power
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.power import most_w, rack_w
from planner.findings import Finding, Severity, Verdict
from planner.format import quantity

ID = "power-budget"
SEVERITY = Severity.ERROR
# Eight accelerators of 400 W near their limit in prefill, and 500 W of hosts: 3.7 kW of 2.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: over-its-budget}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}, power: 400 W}
  count: 8
  power: {host: 500 W, budget: 2 kW}
engine: {name: vllm, tensor_parallel_size: 8, max_model_len: 4096}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 100}]}
"""
PASSING = FAILING.replace("budget: 2 kW", "budget: 3.7 kW")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    hardware, power = plan.hardware, result.shipped.cost.power
    supply = hardware.power
    if power is None:
        return
    if supply.budget_w is not None:
        idle, cards = power.accelerator_idle_watts, hardware.count * max(1, hardware.replicas.maximum)
        draws = [most_w(hardware, watts, idle) for watts in _ends(power)]
        cap = (supply.budget_w - most_w(hardware, 0.0, idle)) / cards
        yield from _finding("the deployment", draws, supply.budget_w, cap, "/hardware/power/budget", "")
    if supply.rack_accelerators is not None and supply.rack_budget_w is not None:
        draws = [rack_w(hardware, watts) or 0.0 for watts in _ends(power)]
        cap = (supply.rack_budget_w - (rack_w(hardware, 0.0) or 0.0)) / supply.rack_accelerators
        each = draws[2] / supply.rack_accelerators
        fitting = math.floor(supply.rack_budget_w / each + 1e-9)
        way = f"At most {fitting} accelerators a rack. " if fitting else ""
        yield from _finding("a full rack", draws, supply.rack_budget_w, cap, "/hardware/power/rack/budget", way)


def _ends(power: Power) -> tuple[float, float, float]:
    """One accelerator in its hungrier phase: (least of the band, estimate, most); never above its limit."""
    estimate = max(power.accelerator_decode_watts, power.accelerator_prefill_watts or 0.0)
    limit = power.accelerator_limit_watts
    return estimate * power.band[0], estimate, min(estimate * power.band[1], limit)


def _finding(what: str, draws: list[float], budget: float, cap: float, path: str, way: str) -> Iterator[Finding]:
    """draws: least, estimate, most. cap: of one accelerator, with which the budget holds."""
    least, estimate, most = draws
    if most <= budget * (1 + 1e-9):
        return
    surely = least > budget
    may = "draws" if surely else "may draw"
    shown = f"{quantity(estimate, 'watts')} ({quantity(least, 'watts')} to {quantity(most, 'watts')})"
    hint = f"A hardware.power.limit of {math.floor(cap)} W, which slows the phases that need more. " if cap >= 1 else ""
    yield Finding(
        ID,
        SEVERITY if surely else Severity.WARNING,
        f"{what} {may} more than its budget: {shown} in the hungrier phase, of {quantity(budget, 'watts')}",
        f"{way}{hint}{'Or fewer' if way or hint else 'Fewer'} accelerators, or a larger budget.",
        path,
        {"watts": estimate, "low": least, "high": most, "budget_watts": budget, "accelerator_cap_watts": cap},
        verdict=Verdict.INFEASIBLE if surely else Verdict.AT_RISK,
    )
