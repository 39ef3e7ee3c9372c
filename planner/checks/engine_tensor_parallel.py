"""The tensor-parallel size does not divide the model's shapes, so the engine refuses to start.

Attention heads, the feed-forward's width and one expert's width must divide evenly. KV heads must divide too, or
the size must be a multiple of them: then ranks hold copies. vLLM and SGLang round the vocabulary up to 64 rows and then
divide it, so 3, 5, 7 or 24 ranks often fail where heads would divide; TensorRT-LLM rounds it up to the ranks. They
divide the heads of an image encoder too, unless told to keep it whole. Where the
accelerators owned do not fit any valid size, pipeline stages or replicas use the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks._engine_layouts import divided_tower_heads, in_words, layouts, padding_of, problems, valid_for
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-tensor-parallel"
SEVERITY = Severity.ERROR
# 28 attention heads are no multiple of 8: https://github.com/THU-KEG/AdaptThink/issues/1
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: heads-do-not-divide}
model:
  architecture:
    parameters: 7.6e9
    layers: 28
    hidden: 3584
    feed_forward: 18944
    attention: {heads: 28, kv_heads: 4, head_dim: 128}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}, count: 8}
engine: {name: vllm, tensor_parallel_size: 8, max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("tensor_parallel_size: 8", "tensor_parallel_size: 4, pipeline_parallel_size: 2")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    settings, model = plan.engine, plan.model
    tensor, expert = settings.tensor_parallel_size, settings.expert_parallel_size
    if settings.name in ("ideal", "llama-cpp") or tensor == 1:
        return
    tower = divided_tower_heads(plan)
    broken = problems(model, tensor, expert, padding_of(plan), tower)
    if not broken:
        return
    valid = valid_for(plan)
    fitting = list(layouts(model, plan.hardware.count, valid))
    hint = f"Valid sizes: {', '.join(map(str, valid))}."
    if fitting:
        ways = " or ".join(in_words(item) for item in fitting[:2])
        hint += f" Nearest for {plan.hardware.count} accelerators: {ways}."
    if tower and tower % tensor:
        flag = "mm-enable-dp-encoder: true" if settings.name == "sglang" else "mm-encoder-tp-mode: data"
        hint += f" `args: {{{flag}}}` keeps the image encoder whole on every rank."
    yield Finding(
        ID,
        SEVERITY,
        f"tensor_parallel_size {tensor}: " + "; ".join(shape.problem(tensor) for shape in broken),
        hint,
        "/engine/tensor_parallel_size",
        {
            "tensor_parallel_size": tensor,
            "valid_tp": valid,
            "shapes": {shape.what: shape.size for shape in broken},
            "layouts": fitting,
        },
        verdict=Verdict.INFEASIBLE,
    )
