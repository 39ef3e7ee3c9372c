"""`max_model_len` is longer than the model was made for.

vLLM, SGLang and TensorRT-LLM refuse it unless told otherwise: positions beyond the trained ones give wrong answers.
A model with a scaling rule for longer contexts says so in its config. llama.cpp only warns.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-context-exceeds-model"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: context-too-long}
model:
  architecture:
    parameters: 7e9
    layers: 32
    max_context: 4096
    attention: {heads: 32, kv_heads: 32, head_dim: 128}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("max_model_len: 8192", "max_model_len: 4096")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    declared, longest = plan.engine.max_model_len, plan.model.max_context
    if plan.engine.name == "ideal" or declared is None or longest is None or declared <= longest:
        return
    refuses = plan.engine.name != "llama-cpp"
    yield Finding(
        ID,
        Severity.ERROR if refuses else Severity.WARNING,
        f"max_model_len {declared:,} is above the {longest:,} tokens that the model was made for",
        f"At most {longest:,}, or a config that scales its positions further.",
        "/engine/max_model_len",
        {"max_model_len": declared, "largest_max_model_len": longest},
        verdict=Verdict.INFEASIBLE if refuses else None,
    )
