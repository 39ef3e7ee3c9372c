"""What each rank of a parallel layout holds of a model: weights, cache, recurrent state."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from planner.domain import formats
from planner.domain.engine import EngineSettings
from planner.domain.model import CacheEntry, LayerGroup, Model, Weight
from planner.domain.remembering import by_object
from planner.physics import elementwise

VOCABULARY_PADDING = 64
"""Rows that engines round the vocabulary up to (vLLM and SGLang: DEFAULT_VOCAB_PADDING_SIZE)."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """tensor x pipeline x data ranks in one replica; experts spread over `expert` of the tensor x data ranks."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1

    @classmethod
    def of(cls, settings: EngineSettings) -> Parallel:
        return cls(
            settings.tensor_parallel_size,
            settings.pipeline_parallel_size,
            settings.data_parallel_size,
            settings.expert_parallel_size,
        )

    @property
    def ranks(self) -> int:
        return self.tensor * self.pipeline * self.data


WHOLE = Parallel()


@lru_cache(maxsize=256)
def stages(layers: int, pipeline: int) -> tuple[range, ...]:
    """The layers of each pipeline stage. A remainder goes to the stages before the last, from the back.

    Source: vLLM, `get_pp_indices`: the last stage holds the head, the first the embedding.
    """
    sizes = [layers // pipeline] * pipeline
    for extra in range(layers % pipeline):
        sizes[-2 - extra] += 1
    return tuple(range(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True))


def heads_per_rank(heads: int, tensor: int) -> int:
    """max(1, heads // tensor): beyond the head count, ranks hold copies."""
    return max(1, heads // tensor)


def weight_share(weight: Weight, parallel: Parallel) -> float:
    """The share of one weight (all its copies) that the fullest rank of its pipeline stage holds."""
    if weight.role == "expert":
        return _expert_share(weight, parallel)
    if weight.shard == "replicated":
        return 1.0
    if weight.shard == "kv":
        return heads_per_rank(weight.heads, parallel.tensor) / weight.heads
    if weight.shard == "vocabulary":
        padded = -(-weight.outputs // VOCABULARY_PADDING) * VOCABULARY_PADDING
        return -(-padded // parallel.tensor) / weight.outputs
    return 1.0 / parallel.tensor


def _expert_share(weight: Weight, parallel: Parallel) -> float:
    """Experts divide over `expert` ranks; each expert's width over the tensor x data ranks that are left."""
    ranks = parallel.tensor * parallel.data
    expert = max(1, min(parallel.expert, ranks))
    copies = -(-weight.copies // expert) / weight.copies
    return copies if weight.shard == "replicated" else copies / max(1, ranks // expert)


def stored_bytes(weight: Weight, model: Model, *, nominal: bool = False) -> float:
    """Bytes of all copies of one weight. nominal: bits by name for every parameter, as an ideal engine charges."""
    if nominal:
        return weight.parameters * formats.known(model.nominal_format).bits / 8
    found = formats.known(weight.format or model.dtype)
    return weight.copies * found.stored_bytes(weight.outputs, weight.inputs)


def _rank_bytes(weight: Weight, model: Model, parallel: Parallel, nominal: bool) -> float:
    if nominal and weight.shard == "vocabulary":  # an ideal engine pads nothing
        return stored_bytes(weight, model, nominal=True) / parallel.tensor
    return stored_bytes(weight, model, nominal=nominal) * weight_share(weight, parallel)


@by_object
def layers_by_stage(model: Model, pipeline: int) -> tuple[tuple[tuple[int, LayerGroup], ...], ...]:
    """(how many of its layers, group) of each pipeline stage; groups with none there are left out."""
    return tuple(
        tuple((count, group) for group in model.groups if (count := _layers_in(group, stage)))
        for stage in stages(model.layers, pipeline)
    )


def _layers_in(group: LayerGroup, stage: range) -> int:
    return bisect_left(group.layers, stage.stop) - bisect_left(group.layers, stage.start)


def _around(model: Model, stage: int, last: int) -> Iterator[Weight]:
    """What stands around the layers: embedding and towers on the first stage, norms and head on the last."""
    if stage == 0:
        yield from (*model.embedding, *model.towers)
    if stage == last:
        yield from model.norms
        if model.head is not None:
            yield model.head
        elif last > 0:  # tied: the last stage needs its own copy
            yield from model.embedding[:1]


@by_object
def weight_bytes_by_stage(model: Model, parallel: Parallel = WHOLE, *, nominal: bool = False) -> tuple[float, ...]:
    """Weight bytes of one rank of each pipeline stage."""
    last = parallel.pipeline - 1

    def size(weights: Iterator[Weight]) -> float:
        return math.fsum(_rank_bytes(weight, model, parallel, nominal) for weight in weights)

    layer = {id(group): size(group.weights()) for group in model.groups}
    return tuple(
        math.fsum(count * layer[id(group)] for count, group in inside) + size(_around(model, index, last))
        for index, inside in enumerate(layers_by_stage(model, parallel.pipeline))
    )


def weight_bytes(model: Model, parallel: Parallel = WHOLE, *, nominal: bool = False) -> float:
    """Weight bytes of the fullest rank; with the default layout, of the whole model."""
    return max(weight_bytes_by_stage(model, parallel, nominal=nominal))


def total_weight_bytes(model: Model, parallel: Parallel = WHOLE, *, nominal: bool = False) -> float:
    """Weight bytes of all ranks together, replicated parts counted on each."""
    return parallel.tensor * parallel.data * math.fsum(weight_bytes_by_stage(model, parallel, nominal=nominal))


@by_object
def prediction_bytes(model: Model, parallel: Parallel = WHOLE) -> float:
    """Weight bytes of the multi-token-prediction layers on one rank, loaded only when speculation uses them."""
    layers = (weight for group in model.prediction_layers for weight in group.weights() for _ in group.layers)
    return math.fsum(_rank_bytes(weight, model, parallel, False) for weight in (*layers, *model.prediction_extra))


def cache_dtype(model: Model, cache_format: str | None) -> str:
    """The cache precision: declared, else what the checkpoint fixes, else the model's dtype (16 bits at most)."""
    if cache_format not in (None, "auto"):
        return str(cache_format)
    return model.cache_format or (model.dtype if model.dtype in ("bf16", "fp16") else "bf16")


def entry_bytes(entry: CacheEntry, model: Model, cache_format: str | None = None, parallel: Parallel = WHOLE) -> float:
    """Bytes of one kept entry of one layer on one rank."""
    name = entry.format or cache_dtype(model, cache_format)
    if name == "fp8_ds_mla" and entry.role != "latent":
        name = "fp8_index" if entry.role == "index" else "fp8"
    elements = entry.elements * heads_per_rank(entry.shards, parallel.tensor) / entry.shards
    return elements * formats.cache_element_bytes(name)


def kept(entry: CacheEntry, tokens: Any) -> Any:
    """Entries that a sequence of `tokens` keeps: min(tokens, window) / stride, whole."""
    visible = tokens if entry.window is None else elementwise.minimum(tokens, entry.window)
    return visible if entry.stride == 1 else elementwise.floor(visible / entry.stride)


def _by_stage(model: Model, parallel: Parallel, size: Callable[[LayerGroup], float]) -> tuple[float, ...]:
    """`size(group)` of one layer, summed over the layers of each pipeline stage."""
    sizes = {id(group): size(group) for group in model.groups}
    return tuple(
        float(sum(count * sizes[id(group)] for count, group in inside))
        for inside in layers_by_stage(model, parallel.pipeline)
    )


@by_object
def _entries_by_stage(
    model: Model, cache_format: str | None, parallel: Parallel
) -> tuple[tuple[tuple[int, tuple[tuple[float, CacheEntry], ...]], ...], ...]:
    """(layers, (bytes of one entry of a layer on one rank, entry) of each) of the groups of each pipeline stage."""
    return tuple(
        tuple(
            (
                count,
                tuple(
                    (entry_bytes(entry, model, cache_format, parallel), entry)
                    for mixer in group.mixers
                    for entry in mixer.cache
                ),
            )
            for count, group in inside
        )
        for inside in layers_by_stage(model, parallel.pipeline)
    )


def cache_bytes_by_stage(
    model: Model, tokens: Any, cache_format: str | None = None, parallel: Parallel = WHOLE, *, image_tokens: Any = 0
) -> tuple[Any, ...]:
    """Cache bytes of one sequence of `tokens` on one rank of each stage, index keys included.

    Cross-attention layers keep `image_tokens`. tokens: number or numpy array.
    """
    return tuple(
        sum(
            count
            * sum(size * kept(entry, image_tokens if entry.role == "cross" else tokens) for size, entry in entries)
            for count, entries in inside
        )
        for inside in _entries_by_stage(model, cache_format, parallel)
    )


def cache_bytes(
    model: Model, tokens: Any, cache_format: str | None = None, parallel: Parallel = WHOLE, *, image_tokens: Any = 0
) -> Any:
    """Cache bytes of one sequence on the fullest rank: Σ layers entry bytes x min(tokens, window) / stride."""
    found = cache_bytes_by_stage(model, tokens, cache_format, parallel, image_tokens=image_tokens)
    largest = found[0]
    for value in found[1:]:
        largest = elementwise.maximum(largest, value)
    return largest


def kv_bytes_per_token(model: Model, cache_format: str | None = None, parallel: Parallel = WHOLE) -> float:
    """What one more token costs below every window, all layers; index keys and cross-attention apart."""
    return _bytes_per_token(model, cache_format, parallel, ("kv", "latent"))


def index_bytes_per_token(model: Model, cache_format: str | None = None, parallel: Parallel = WHOLE) -> float:
    """Index keys of sparse attention, bytes for each token, all layers."""
    return _bytes_per_token(model, cache_format, parallel, ("index",))


@by_object
def _bytes_per_token(model: Model, cache_format: str | None, parallel: Parallel, roles: tuple[str, ...]) -> float:
    def size(group: LayerGroup) -> float:
        return math.fsum(
            entry_bytes(entry, model, cache_format, parallel) / entry.stride
            for mixer in group.mixers
            for entry in mixer.cache
            if entry.role in roles
        )

    return max(_by_stage(model, parallel, size))


@by_object
def state_bytes_by_stage(model: Model, parallel: Parallel = WHOLE) -> tuple[float, ...]:
    """Recurrent and convolution state of one sequence on one rank of each stage."""

    def size(group: LayerGroup) -> float:
        states = [mixer.state for mixer in group.mixers if mixer.state is not None]
        return math.fsum(
            state.bytes_per_sequence * heads_per_rank(state.shards, parallel.tensor) / state.shards for state in states
        )

    return _by_stage(model, parallel, size)


def state_bytes(model: Model, parallel: Parallel = WHOLE) -> float:
    """Recurrent and convolution state of one sequence on the fullest rank."""
    return max(state_bytes_by_stage(model, parallel))
