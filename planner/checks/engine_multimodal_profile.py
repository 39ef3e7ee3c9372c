"""The images that a request may hold take more tokens than the context, so profiling fails or runs out of memory.

At start the engine profiles the worst case: `limit_mm_per_prompt` images of the largest size that the processor
allows. Limiting pixels in requests does not help; `mm_processor_kwargs: {max_pixels: ...}` on the engine does, and
so does a lower limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-multimodal-profile"
SEVERITY = Severity.ERROR
# 12 images x 16,384 tokens = 196,608 > 32,768; with max_pixels 768 x 28 x 28 they are 9216.
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: twelve-images}
model: {architecture: {parameters: 7e9, layers: 28, attention: {heads: 28, kv_heads: 4, head_dim: 128}}}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 32768, limit_mm_per_prompt: {image: 12},
  mm_processor_kwargs: {max_pixels: 12845056}}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("max_pixels: 12845056", "max_pixels: 602112")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    images = plan.engine.limit_mm_per_prompt.get("image", 0)
    length, one = result.detail.plan.engine.max_model_len, _image_tokens(plan)
    if not images or length is None or one is None:
        return
    pixels = int(engines.figure(plan.engine, "image_pixels_per_token"))
    total = images * one
    if total <= length:
        return
    fitting = length // one
    per_image = length // images
    yield Finding(
        ID,
        SEVERITY,
        f"{images} images of up to {one:,} tokens are {total:,}, above max_model_len {length:,}",
        f"Set mm_processor_kwargs max_pixels to {per_image * pixels:,} at most ({per_image:,} tokens an image), "
        f"or limit_mm_per_prompt image to {fitting}.",
        "/engine/limit_mm_per_prompt",
        {
            "profiled_image_tokens": total,
            "image_tokens": one,
            "max_model_len": length,
            "largest_image_limit": fitting,
            "largest_max_pixels": per_image * pixels,
        },
        verdict=Verdict.INFEASIBLE,
    )


def _image_tokens(plan: Plan) -> int | None:
    """Most tokens of one image: by the pixels that the engine allows, else by what the family's processor allows."""
    families = engines.figure(plan.engine, "image_tokens_largest")
    if families is None:
        return None
    limit = plan.engine.mm_processor_kwargs.get("max_pixels")
    if isinstance(limit, int | float) and limit > 0:
        return max(1, int(limit) // int(engines.figure(plan.engine, "image_pixels_per_token")))
    return next((int(tokens) for family, tokens in families.items() if plan.model.family.startswith(family)), None)
