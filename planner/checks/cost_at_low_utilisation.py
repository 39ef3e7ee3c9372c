"""The hardware is idle for most of what it could serve, and idle hours are billed.

USD a million tokens = USD an hour / (tokens a second x 0.0036), so a tenth of the tokens cost ten times as much. The
cost at saturation is a lower bound that no declared load has.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import significant

ID = "cost-at-low-utilisation"
SEVERITY = Severity.NOTE
LOW = 0.3
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: mostly-idle}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}, price: 2 USD/hour}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {rate: 0.1 request/s}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("rate: 0.1 request/s", "concurrency: 1")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    cost, served = result.shipped.cost, result.shipped.throughput
    here = cost.usd_per_million_output_tokens
    if plan.workload.load.kind not in ("rate", "trace", "sessions") or not here:
        return
    if not served.max_requests_per_s or served.requests_per_s is None:
        return
    running = result.detail.paid.hardware.replicas
    utilisation = served.requests_per_s / (served.max_requests_per_s * max(running.minimum, 1) / max(running.most, 1))
    if utilisation >= LOW:
        return
    full = cost.saturation.usd_per_million_output_tokens if cost.saturation else None
    full = here * utilisation if full is None else full
    yield Finding(
        ID,
        SEVERITY,
        f"the declared load is {utilisation:.0%} of what the hardware serves: {significant(here)} USD a million output "
        f"tokens, {significant(full)} at saturation",
        "Fewer or smaller accelerators, replicas that scale with the load, or another load on the same hardware.",
        "/workload/load",
        {
            "utilisation": utilisation,
            "usd_per_million_output_tokens": here,
            "usd_per_million_output_tokens_at_saturation": full,
            "usd_per_million_output_tokens_at_10_percent": here * utilisation / 0.1,
        },
    )
