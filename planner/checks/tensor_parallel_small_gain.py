"""More tensor-parallel ranks, and a single stream is hardly faster.

What a rank saves in reading weights it spends on all-reduces and on overheads that do not shrink: small models and
mixtures of experts at batch 1 read little to begin with. Where the model fits fewer cards, replicas of it serve more
for the same money.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.service import service_of
from planner.findings import Finding, Severity

ID = "tensor-parallel-small-gain"
SEVERITY = Severity.WARNING
LEAST_SHARE = 0.65
"""Of the ranks: a speed-up of 1.3 on two is the least that is not remarked on."""
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: two-cards-for-one-small-stream}
model: {architecture: {parameters: 1e9, layers: 24, hidden: 2048, attention: {heads: 32, kv_heads: 8, head_dim: 64}}}
hardware: {accelerator: a100-sxm-80, count: 2}
engine: {name: vllm, tensor_parallel_size: 2, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("parameters: 1e9", "parameters: 40e9")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    tensor, load = plan.engine.tensor_parallel_size, plan.workload.load
    single = load.kind == "concurrency" and (load.concurrency or 0.0) <= 1.0
    if plan.engine.name in ("ideal", "llama-cpp") or tensor < 2 or not single:
        return
    served = result.detail.served
    shipped: Plan = result.detail.plan
    alone = replace(shipped, engine=replace(shipped.engine, tensor_parallel_size=1))
    gain = service_of(alone, served.service.mix).decode_s(1.0) / served.service.decode_s(1.0)
    if gain >= LEAST_SHARE * tensor:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"one stream on {tensor} tensor-parallel ranks is {gain:.2f} times as fast as on one",
        "Fewer ranks where the model fits, and replicas for throughput.",
        "/engine/tensor_parallel_size",
        {"tensor_parallel_size": tensor, "single_stream_speedup": gain},
    )
