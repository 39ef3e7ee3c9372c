"""What one stream can reach at most: a step reads every active weight once, whatever the engine does.

The ceiling is the card's peak bandwidth over the bytes of a step, nothing else charged. A measured speed far below
it is overhead (launches, the host, a slow kernel), which a smaller format does not lower; a wish above it needs
fewer bytes: fewer active parameters, fewer bits, speculation, or a batch that shares the read.

It is said where it decides something: on memory that the host shares, which is slow; where an objective on the time or
the rate of tokens is not surely met; and where a lever lowers the bytes of a step that is mostly overhead.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity
from planner.format import memory, significant

ID = "decode-ceiling"
SEVERITY = Severity.NOTE
MOSTLY = 0.5
PER_TOKEN = (
    "inter_token_latency",
    "time_per_output_token",
    "output_tokens_per_second_per_user",
    "output_tokens_per_second",
)
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: one-stream}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
objectives: {inter_token_latency: {mean: 8 ms}}
"""
PASSING = FAILING.replace("objectives: {inter_token_latency: {mean: 8 ms}}", "")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    step = result.shipped.latency.decode_step_s
    served = result.detail.served
    single = plan.workload.load.kind == "concurrency" and (plan.workload.load.concurrency or 0.0) <= 1.0
    if plan.engine.name == "ideal" or not single or not step or served.service.draft is not None:
        return
    reads = served.service.step.work
    weights = float(reads.weight_bytes(1.0))
    cache = float(reads.cache_bytes(served.service.mix.context))
    bandwidth = plan.hardware.accelerator.bandwidth_bytes_per_s
    ceiling = bandwidth / weights
    split = result.shipped.latency.decode
    overhead = (split.overhead_s + split.communication_s) / step if split else None
    if not (plan.hardware.accelerator.unified or _wanted(result) or ((overhead or 0.0) > MOSTLY and _lowers(plan))):
        return
    per_step = served.service.tokens_per_step
    yield Finding(
        ID,
        SEVERITY,
        f"a step of one stream reads {memory(weights)} of weights on a card: "
        f"{significant(ceiling * per_step)} tokens/s "
        f"at its peak bandwidth, {significant(per_step / step)} predicted",
        "More needs fewer bytes a token: fewer active parameters or bits, speculation, or streams that share a read.",
        "/workload/load",
        {
            "bytes_per_step": weights,
            "cache_bytes_per_step": cache,
            "ceiling_tokens_per_s": ceiling * per_step,
            "predicted_tokens_per_s": per_step / step,
            "share_of_ceiling": 1.0 / (step * ceiling),
            "overhead_share": overhead,
        },
    )


def _wanted(result: PlanResult) -> bool:
    """Whether an objective on tokens is at risk or missed."""
    return any(
        item.outcome in ("at-risk", "missed") and item.objective.partition(".")[0] in PER_TOKEN
        for item in result.shipped.objectives
    )


def _lowers(plan: Plan) -> bool:
    """Whether the stack has a lever on the bytes of weights."""
    return any(item.use == "quantize-weights" and item.status != "reject" for item in plan.levers)
