"""What the images of one prompt may take of its context, as the engine profiles them at start.

`limit_mm_per_prompt` images of the largest size that the processor allows, whatever requests send: a smaller image
in a request does not lower it, `mm_processor_kwargs: {max_pixels: ...}` and a lower limit do.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.engine_multimodal_profile import _image_tokens
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity

ID = "image-tokens-reserved"
SEVERITY = Severity.NOTE
# 12 images of 768 tokens: 9216 of 32,768.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: twelve-small-images}
model: {architecture: {parameters: 7e9, layers: 28, attention: {heads: 28, kv_heads: 4, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 32768, limit_mm_per_prompt: {image: 12},
  mm_processor_kwargs: {max_pixels: 602112}}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("image: 12", "image: 0")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    images = plan.engine.limit_mm_per_prompt.get("image", 0)
    settings, one = result.detail.plan.engine, _image_tokens(plan)
    length, batched = settings.max_model_len, settings.max_num_batched_tokens
    if not images or one is None or length is None or images * one > length:
        return
    total = images * one
    beyond = batched is not None and one > batched
    yield Finding(
        ID,
        Severity.WARNING if beyond else SEVERITY,
        f"{images} images of up to {one:,} tokens take {total:,} of the {length:,} tokens of a sequence"
        + (f"; one image is more than the {batched:,} tokens of a step" if beyond else ""),
        f"Raise max_num_batched_tokens to at least {one:,}: an image goes through whole." if beyond else "",
        "/engine/limit_mm_per_prompt",
        {
            "profiled_image_tokens": total,
            "image_tokens": one,
            "max_model_len": length,
            "max_num_batched_tokens": batched,
            "text_tokens_left": length - total,
        },
    )
