"""Weight bytes of one rank of each pipeline stage, with what engines add to the checkpoint's own bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planner.domain import formats
from planner.domain.model import Mixer, Model, Weight
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


def by_stage(
    plan: Plan, parallel: Parallel, padding: Padding | None = None, *, rotary_tables: bool = False
) -> tuple[float, ...]:
    """Weights of one rank: the model, padded experts, what speculation loads, preallocated adapters.

    padding: {format: {hidden, width}}: multiples that a kernel's layout rounds experts up to.
    rotary_tables: whether tables of rotary angles are loaded with the weights.
    """
    tables = rotary_bytes(plan.model) if rotary_tables else 0.0
    inside = [set(stage) for stage in stages(plan.model.layers, parallel.pipeline)]
    base = weight_bytes_by_stage(plan.model, parallel)
    padded = [_padding(plan.model, parallel, layers, padding or {}) for layers in inside]
    extra = [_adapters(plan, parallel, layers) for layers in inside]
    drafts = [0.0] * (len(base) - 1) + [_speculation(plan, parallel)]
    return tuple(math.fsum((*parts, tables)) for parts in zip(base, padded, extra, drafts, strict=True))


def rotary_bytes(model: Model) -> float:
    """Tables of rotary angles: for each head size, longest context x its sines and cosines, in the model's dtype.

    Models with learned positions have none. Source: vLLM, `RotaryEmbedding.cos_sin_cache`, one for equal layers.
    """
    if any(weight.role == "position" for weight in model.embedding):
        return 0.0
    mixers = [mixer for group in model.groups for mixer in group.mixers if mixer.attends]
    sizes = {_rotary_size(mixer) for mixer in mixers}
    return float((model.max_context or 0) * sum(sizes)) * formats.known(model.dtype).bits / 8


def _rotary_size(mixer: Mixer) -> int:
    """Rotated values of a head: of a latent, the part that heads share."""
    latent = mixer.kind in ("latent-attention", "sparse-latent-attention")
    shared = (mixer.decode_key_dim or 0) - (mixer.decode_value_dim or 0)
    return shared if latent and shared > 0 else mixer.key_dim


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
