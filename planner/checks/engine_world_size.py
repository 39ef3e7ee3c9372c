"""The parallel sizes want another number of accelerators than one replica has.

tensor x pipeline x data is what the engine takes. Too few to take: it does not start. Too many: some are paid for
and idle, so one of the two figures is not what is meant. llama.cpp deals layers over whatever there is, so only too few
is wrong there.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks._engine_layouts import in_words, layouts, valid_for
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-world-size"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: too-few-accelerators}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}, count: 2}
engine: {name: vllm, tensor_parallel_size: 4, max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("count: 2", "count: 4")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    wanted, count = plan.engine.world_size, plan.hardware.count
    if wanted == count or (plan.engine.name == "llama-cpp" and wanted < count):
        return
    short = wanted > count
    fitting = list(layouts(plan.model, count, valid_for(plan)))
    ways = " or ".join(in_words(item) for item in fitting[:2])
    idle = "" if short else f": {count - wanted} would be idle"
    yield Finding(
        ID,
        SEVERITY,
        f"tensor x pipeline x data parallel sizes take {wanted} accelerators, a replica has {count}{idle}",
        f"For {count} accelerators: {ways}." if ways else f"Declare `count: {wanted}`.",
        "/hardware/count" if short or "tensor_parallel_size" not in plan.engine.origins else "/engine",
        {"world_size": wanted, "count": count, "valid_tp": valid_for(plan), "layouts": fitting},
        verdict=Verdict.INFEASIBLE,
    )
