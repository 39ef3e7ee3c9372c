"""A setting of the engine section that this engine does not have, or that the model gives nothing to do.

Keys are common to all engines, so that a spec can change its engine. What an engine has no such thing as changes no
figure: better removed than believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "setting-ignored"
SEVERITY = Severity.WARNING
IMAGES = ("limit_mm_per_prompt", "mm_processor_kwargs")
_BLOCKS = ("block_size", "num_gpu_blocks_override")
IGNORED: Mapping[str, tuple[str, ...]] = {
    "ideal": ("max_num_batched_tokens", *_BLOCKS, "max_loras", "max_lora_rank", *IMAGES),
    "llama-cpp": (*_BLOCKS, *IMAGES),
    "sglang": ("num_gpu_blocks_override",),
    "tensorrt-llm": ("num_gpu_blocks_override",),
}
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: blocks}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: llama-cpp, max_model_len: 4096, block_size: 32}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("llama-cpp", "vllm")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    engine = plan.engine
    textual = plan.model.exact and not plan.model.multimodal
    for key in dict.fromkeys((*IGNORED.get(engine.name, ()), *(IMAGES if textual else ()))):
        if not getattr(engine, key):
            continue
        why = f"{engine.name} has no such thing"
        if key in IMAGES and textual:
            why = f"{plan.model.name} takes text alone"
        yield Finding(
            ID,
            SEVERITY,
            f"engine.{key} changes nothing here: {why}",
            "Remove it.",
            f"/engine/{key}",
            {"setting": key},
        )
