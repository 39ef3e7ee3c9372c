"""Requests name adapters, and the engine is not told to serve any: it refuses each of those requests.

Engines that serve adapters preallocate slots for them, and only where they are told to (`max_loras`, with
`max_lora_rank`). Without, there is no room for adapters in the plan either.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "adapters-disabled"
SEVERITY = Severity.ERROR
WITHOUT_SLOTS = ("ideal", "llama-cpp")
"""Engines that charge no adapters, or load each beside the model."""
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: no-slots}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: rtx-4090}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100, adapters: 8}]}
"""
PASSING = FAILING.replace("max_model_len: 4096", "max_model_len: 4096, max_loras: 8, max_lora_rank: 16")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    if plan.engine.name in WITHOUT_SLOTS or plan.engine.max_loras:
        return
    for item in plan.workload.classes:
        if item.adapters:
            yield Finding(
                ID,
                SEVERITY,
                f"requests of {item.name} use {item.adapters:,} adapters, and the engine has no slot for one",
                f"Declare engine.max_loras (adapters in one batch, here {item.adapters:,}) and max_lora_rank.",
                f"/workload/classes/{item.name}/adapters",
                {"adapters": item.adapters},
                verdict=Verdict.INFEASIBLE,
            )
