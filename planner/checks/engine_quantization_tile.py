"""A quantised matrix is cut into shards that its kernel cannot take.

Kernels work on tiles, and scales belong to groups or blocks: the width of a rank's shard must be a multiple. Lower
tensor parallelism, experts kept whole (expert parallelism) or another format helps; where tensor parallelism is 1
already only another format or kernel does. Newer versions pad shards: there it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner import engines
from planner.checks._engine_layouts import in_words, layouts, valid_for
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-quantization-tile"
SEVERITY = Severity.ERROR
# 29,568 columns over four ranks are 7392, no multiple of 128: https://github.com/vllm-project/llm-compressor/issues/57
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: shard-below-the-tile}
model:
  architecture:
    parameters: 72.7e9
    layers: 80
    hidden: 8192
    feed_forward: 29568
    attention: {heads: 64, kv_heads: 8, head_dim: 128}
  weights: gptq-int8
hardware: {accelerator: a100-sxm-80, count: 4}
engine: {name: vllm, version: "0.5.1", tensor_parallel_size: 4, max_model_len: 8192}
workload: {load: {concurrency: 4}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("tensor_parallel_size: 4", "pipeline_parallel_size: 4")


@dataclass(frozen=True, slots=True)
class Cut:
    """A width that ranks divide, and the multiple that a shard must be."""

    format: str
    what: str
    width: int
    tile: int
    ranks: int
    experts: int = 0

    @property
    def broken(self) -> bool:
        return self.width % self.ranks != 0 or (self.width // self.ranks) % self.tile != 0


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped: Plan = result.detail.plan
    yield from _never_cut(plan, shipped)
    tiles = engines.figure(plan.engine, "quantized_tile")
    if not tiles:
        return
    seen: set[tuple[str, int]] = set()
    for cut in _cuts(shipped, tiles):
        if cut.broken and (cut.format, cut.width) not in seen:
            seen.add((cut.format, cut.width))
            yield _finding(plan, cut)


def _never_cut(plan: Plan, shipped: Plan) -> Iterator[Finding]:
    """Published checkpoints whose scales belong to whole matrices: no tensor parallelism at all."""
    schemes = engines.figure(plan.engine, "checkpoints_not_cut") or ()
    scheme, tensor = shipped.model.quantization or "", plan.engine.tensor_parallel_size
    if tensor == 1 or scheme not in schemes:
        return
    fitting = list(layouts(plan.model, plan.hardware.count, [1]))
    ways = " or ".join(in_words(item) for item in fitting[:2])
    yield Finding(
        ID,
        SEVERITY,
        f"{plan.engine.name} does not cut a published {scheme} checkpoint over {tensor} ranks",
        f"tensor_parallel_size 1 ({ways}), or the 16-bit model quantised as it is loaded, or another format.",
        "/engine/tensor_parallel_size",
        {"format": scheme, "tensor_parallel_size": tensor, "valid_tp": [1], "layouts": fitting},
        verdict=Verdict.INFEASIBLE,
    )


def _cuts(plan: Plan, tiles: dict[str, list[int]]) -> Iterator[Cut]:
    """Feed-forwards cut along their width, and attention projections along their heads."""
    tensor, expert = plan.engine.tensor_parallel_size, plan.engine.expert_parallel_size
    for group in plan.model.groups:
        for part in group.feed_forwards:
            name = next((item.format for item in part.weights if item.format and item.role in ("linear", "expert")), "")
            tile = _tile(name or "", tiles)
            if tile and part.width:
                ranks = max(1, tensor // expert) if part.experts else tensor
                yield Cut(
                    name or "",
                    "an expert" if part.experts else "the feed-forward",
                    part.width,
                    max(tile),
                    ranks,
                    part.experts,
                )
        for weight in (item for mixer in group.mixers for item in mixer.weights if item.inputs > 1):
            tile = _tile(weight.format or "", tiles)
            if tile and weight.role == "linear" and weight.shard == "row":
                yield Cut(weight.format or "", weight.name, weight.inputs, tile[0], tensor)


def _tile(name: str, tiles: dict[str, list[int]]) -> list[int] | None:
    return next((size for known, size in tiles.items() if name.startswith(known)), None)


def _finding(plan: Plan, cut: Cut) -> Finding:
    pads, tensor = bool(engines.figure(plan.engine, "pads_quantized_shards")), plan.engine.tensor_parallel_size
    valid = [size for size in valid_for(plan) if cut.width % size == 0 and (cut.width // size) % cut.tile == 0]
    shard = cut.width // cut.ranks
    values: dict[str, Any] = {
        "width": cut.width,
        "tile": cut.tile,
        "shard_width": shard,
        "remainder": shard % cut.tile,
        "remainder_64": shard % 64,
        "remainder_by_tp": {
            str(size): (cut.width // size) % cut.tile for size in (1, 2, 4, 8) if cut.width % size == 0
        },
        "valid_tp": valid,
        "layouts": list(layouts(plan.model, plan.hardware.count, valid)),
    }
    ways = ["another format or kernel"]
    if cut.experts and tensor > 1:
        values["experts_per_rank"] = -(-cut.experts // tensor)
        ways.insert(
            0, f"expert_parallel_size {tensor}, which keeps {values['experts_per_rank']} whole experts on a rank"
        )
    if valid and max(valid) < tensor:
        fitting = f" ({in_words(values['layouts'][0])})" if values["layouts"] else ""
        ways.insert(0, f"tensor_parallel_size {max(valid)}{fitting}")
    share = f"{cut.width:,} / {cut.ranks} = {shard:,}" if cut.ranks > 1 else f"{cut.width:,}"
    tail = "; this version pads it, builds on top of it may refuse" if pads else ""
    return Finding(
        ID,
        Severity.WARNING if pads else SEVERITY,
        f"{cut.format} weights: a rank's shard of {cut.what} is {share} wide, no multiple of {cut.tile}{tail}",
        f"Either of: {'; '.join(ways)}." if len(ways) > 1 else f"Use {ways[0]}.",
        "/engine/tensor_parallel_size" if tensor > 1 else "/model/weights",
        values,
        verdict=None if pads else Verdict.INFEASIBLE,
    )
