"""The budget of batched tokens is too small for what has to go through in one step.

Without chunked prefill a whole prompt is one step: `max_num_batched_tokens` below `max_model_len` is refused. With
it, a step must still hold one token for each running sequence.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-batched-tokens"
SEVERITY = Severity.ERROR
# 8192 < 128,000 with chunked prefill off, vLLM 0.24.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: prompt-above-the-budget}
model:
  architecture:
    parameters: 3e9
    layers: 36
    max_context: 128000
    attention: {heads: 16, kv_heads: 2, head_dim: 128}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 128000, max_num_batched_tokens: 8192, enable_chunked_prefill: false}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("enable_chunked_prefill: false", "enable_chunked_prefill: true")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    tokens, length = plan.engine.max_num_batched_tokens, result.detail.plan.engine.max_model_len
    if plan.engine.name != "vllm" or tokens is None:
        return
    chunked = any(use.use == "chunked-prefill" and use.status == "adopt" for use in plan.levers)
    sequences = plan.engine.max_num_seqs or 0
    values = {"max_num_batched_tokens": tokens, "max_model_len": length, "max_num_seqs": plan.engine.max_num_seqs}
    least = sequences if chunked else max(sequences, length or 0)
    values["smallest_max_num_batched_tokens"] = least
    if not chunked and length is not None and tokens < length:
        message = f"max_num_batched_tokens {tokens:,} is below max_model_len {length:,}, and chunked prefill is off"
        hint = f"Raise it to at least {length:,}, lower max_model_len, or turn chunked prefill on."
    elif tokens < sequences:
        message = f"max_num_batched_tokens {tokens:,} is below max_num_seqs {sequences:,}"
        hint = f"Raise it to at least {sequences:,}, or lower max_num_seqs."
    else:
        return
    path = "/engine/max_num_batched_tokens"
    yield Finding(ID, SEVERITY, message, hint, path, values, verdict=Verdict.INFEASIBLE)
