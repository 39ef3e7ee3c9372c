"""Weight bytes of one rank of each pipeline stage, with what engines add to the checkpoint's own bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planner.domain.model import Model, Weight
from planner.domain.plan import Plan
from planner.domain.shards import (
    Parallel,
    prediction_bytes,
    stages,
    stored_bytes,
    total_weight_bytes,
    weight_bytes,
    weight_bytes_by_stage,
    weight_share,
)
from planner.physics.engine_memory import adapter_bytes

Padding = Mapping[str, Mapping[str, int]]


def by_stage(plan: Plan, parallel: Parallel, padding: Padding | None = None) -> tuple[float, ...]:
    """Weights of one rank: the model, padded experts, what speculation loads, preallocated adapters.

    padding: {format: {hidden, width}}: multiples that a kernel's layout rounds experts up to.
    """
    inside = [set(stage) for stage in stages(plan.model.layers, parallel.pipeline)]
    base = weight_bytes_by_stage(plan.model, parallel)
    padded = [_padding(plan.model, parallel, layers, padding or {}) for layers in inside]
    extra = [_adapters(plan, parallel, layers) for layers in inside]
    drafts = [0.0] * (len(base) - 1) + [_speculation(plan, parallel)]
    return tuple(math.fsum(parts) for parts in zip(base, padded, extra, drafts, strict=True))


def total(plan: Plan, parallel: Parallel, rank_bytes: tuple[float, ...]) -> float:
    """All ranks together: what one rank of each stage holds, times tensor x data ranks."""
    base = weight_bytes_by_stage(plan.model, parallel)
    added = math.fsum(rank_bytes) - math.fsum(base)
    return total_weight_bytes(plan.model, parallel) + parallel.tensor * parallel.data * added


def _padding(model: Model, parallel: Parallel, layers: set[int], padding: Padding) -> float:
    """Bytes that rounding experts up adds: stored x (padded hidden / hidden x padded width / width - 1)."""
    added = 0.0
    for group in model.groups:
        count = len(layers.intersection(group.layers))
        for feed_forward in group.feed_forwards if count else ():
            for weight in feed_forward.weights:
                rule = padding.get(weight.format or model.dtype) if weight.role == "expert" else None
                if rule and feed_forward.width:
                    added += count * _padded(weight, model, parallel, feed_forward.width, rule)
    return added


def _padded(weight: Weight, model: Model, parallel: Parallel, width: int, rule: Mapping[str, int]) -> float:
    if weight.inputs == 1:
        return 0.0
    ranks = max(1, parallel.tensor * parallel.data // max(1, parallel.expert))
    local = width / ranks
    growth = _up(model.hidden, rule["hidden"]) / model.hidden * (_up(local, rule["width"]) / local)
    return stored_bytes(weight, model) * weight_share(weight, parallel) * (growth - 1.0)


def _up(value: float, multiple: int) -> float:
    return math.ceil(value / multiple) * multiple


def _speculation(plan: Plan, parallel: Parallel) -> float:
    """Weights of a draft model, or of the prediction layers, on one rank."""
    speculation = plan.techniques.speculation
    if speculation is None:
        return 0.0
    draft: Any = speculation.draft
    if isinstance(draft, Model):
        return weight_bytes(draft, Parallel(tensor=parallel.tensor))
    return prediction_bytes(plan.model, parallel) if speculation.method == "mtp" else 0.0


def _adapters(plan: Plan, parallel: Parallel, layers: set[int]) -> float:
    """Slots x rank x (inputs + outputs) of every linear projection of the layers; one side of each is sharded."""
    slots, rank = plan.engine.max_loras or 0, plan.engine.max_lora_rank or 0
    if not slots or not rank:
        return 0.0
    added = 0.0
    for group in plan.model.groups:
        count = len(layers.intersection(group.layers))
        for weight in group.weights():
            if count and weight.role == "linear" and weight.inputs > 1:
                column = weight.shard in ("column", "kv")
                inputs = weight.inputs / (parallel.tensor if weight.shard == "row" else 1)
                outputs = weight.outputs / (parallel.tensor if column else 1)
                added += count * weight.copies * adapter_bytes(rank, inputs, outputs, slots)
    return added
