"""`max_lora_rank` is a rank that the engine has no kernels for, so it refuses to start.

Slots are allocated at a few ranks only. An adapter of rank 24 is served by slots of 32. A rank above the largest is
merged into the weights instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-adapter-rank"
SEVERITY = Severity.ERROR
# https://github.com/vllm-project/vllm/issues/2847
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: rank-128}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: a100-sxm-80}
engine: {name: vllm, version: "0.4", max_model_len: 4096, max_loras: 2, max_lora_rank: 128}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100, adapters: 2}]}
"""
PASSING = FAILING.replace("max_lora_rank: 128", "max_lora_rank: 64")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    rank, valid = plan.engine.max_lora_rank, engines.figure(plan.engine, "lora_ranks")
    if rank is None or not valid or rank in valid:
        return
    nearest = next((size for size in valid if size >= rank), None)
    yield Finding(
        ID,
        SEVERITY,
        f"max_lora_rank {rank} is none of {', '.join(map(str, valid))}",
        f"Use {nearest}." if nearest else f"At most {valid[-1]}; merge a larger adapter into the weights.",
        "/engine/max_lora_rank",
        {"max_lora_rank": rank, "valid_ranks": valid, "nearest_rank": nearest},
        verdict=Verdict.INFEASIBLE,
    )
