"""A class sends images that nothing takes: the model has no encoder for them, or the engine admits fewer.

A text model refuses a request with images. `limit_mm_per_prompt` is what one prompt may hold, and a request above it
is refused. A model by bare figures says nothing of images, so nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "images-not-taken"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: three-images}
model: {ref: Qwen/Qwen2.5-VL-7B-Instruct}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, max_model_len: 8192, limit_mm_per_prompt: {image: 2}}
workload:
  load: {concurrency: 1}
  classes: [{name: all, prompt_tokens: 100, output_tokens: 100, images: {count: 3, tokens: 300}}]
"""
PASSING = FAILING.replace("image: 2", "image: 3")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    limit = plan.engine.limit_mm_per_prompt.get("image")
    # A GGUF file holds the text model alone; its encoder is a file of its own.
    textual = plan.model.exact and not plan.model.multimodal and plan.engine.name != "llama-cpp"
    for item in plan.workload.classes:
        if not item.image_count:
            continue
        path = f"/workload/classes/{item.name}/images"
        if textual:
            message = (
                f"requests of {item.name} hold {item.image_count:,} images, and {plan.model.name} takes text alone"
            )
            hint = "Remove `images`, count them as prompt_tokens, or use a model with a vision encoder."
            yield _finding(message, hint, path, item.image_count, 0)
        elif limit is not None and item.image_count > limit:
            message = (
                f"requests of {item.name} hold {item.image_count:,} images, the engine admits {limit:,} in a prompt"
            )
            hint = f"Raise engine.limit_mm_per_prompt image to {item.image_count}, or send fewer."
            yield _finding(message, hint, path, item.image_count, limit)


def _finding(message: str, hint: str, path: str, images: int, limit: int) -> Finding:
    values = {"images": images, "limit": limit}
    return Finding(ID, SEVERITY, message, hint, path, values, verdict=Verdict.INFEASIBLE)
