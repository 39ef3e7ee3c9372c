"""The engine starts, but its cache holds fewer sequences of the promised length than the load has.

Requests wait, or are preempted and computed again. What the engine holds together is `max_concurrency`; prefixes
that requests share are not counted on. Where sequences of mean length do not all fit either, what the load declares
never runs together, and the plan is at risk.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain import held
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "concurrency-exceeds-cache"
SEVERITY = Severity.WARNING
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: crowded}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 32, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 40 GB, bandwidth: 2 TB/s, compute: {fp16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 8192}
workload: {load: {concurrency: 64}, classes: [{name: all, prompt_tokens: 3000, output_tokens: 1000}]}
"""
PASSING = FAILING.replace("concurrency: 64", "concurrency: 2")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    found = held.short(plan, result)
    if found is None:
        return
    shipped, largest = result.shipped.memory, int(result.largest_concurrency or 0)
    yield Finding(
        ID,
        SEVERITY,
        f"the load keeps {found.declared:g} sequences in a replica, and {found.sentence}",
        f"Promise less (max_model_len, lengths), keep at most {largest} in the system, or add replicas.",
        "/workload/load/concurrency",
        {
            "concurrency": found.declared,
            "max_concurrency": found.guaranteed,
            "expected_concurrency": found.expected,
            "largest_concurrency": largest,
            "kv_capacity_tokens": shipped.kv_capacity_tokens,
        },
        verdict=Verdict.AT_RISK if found.expected < found.declared else None,
    )
