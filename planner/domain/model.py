"""A model as the planner sees it: groups of equal layers, each with its mixers and its feed-forward.

Weights, cache, recurrent state, arithmetic and traffic all come from this one description. Nothing
downstream of `planner.architectures` knows the name of a family. Shapes are those of the whole model,
before any parallel split; `planner.domain.shards` divides them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Shard = Literal["replicated", "column", "row", "kv", "vocabulary"]
"""How tensor parallelism splits a weight: not at all; by outputs; by inputs; by outputs in whole KV
heads (replicated beyond them); by padded vocabulary rows."""

Role = Literal["linear", "expert", "router", "vector", "convolution", "embedding", "position", "head", "tower"]
"""What a weight is for. Only `linear`, `expert` and (where a checkpoint says so) others are quantised;
`expert` weights divide over expert-parallel ranks; `embedding` and `position` are looked up, not multiplied."""


@dataclass(frozen=True, slots=True)
class Weight:
    """One kind of weight tensor of a layer, or of the whole model.

    outputs, inputs: shape; a vector (norm, bias) has inputs 1.
    copies: equal tensors (the experts of a layer); active_copies: those that one token passes through.
    heads: the pieces that a `kv` split keeps whole.
    format: a name of `planner.domain.formats`; None is the model's own dtype.
    """

    name: str
    outputs: int
    inputs: int = 1
    role: Role = "linear"
    shard: Shard = "replicated"
    copies: int = 1
    active_copies: int | None = None
    heads: int = 1
    format: str | None = None

    @property
    def parameters(self) -> int:
        return self.outputs * self.inputs * self.copies

    @property
    def active_parameters(self) -> int:
        copies = self.copies if self.active_copies is None else self.active_copies
        return self.outputs * self.inputs * copies

    @property
    def multiplied(self) -> bool:
        """Whether a token's activations are multiplied with it (2 FLOP a parameter)."""
        return self.role in ("linear", "expert", "router", "head")


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What one layer keeps for the tokens of a sequence.

    elements: for each kept token, all KV heads together.
    shards: ranks that can divide it (KV heads; 1 for a latent, which every tensor-parallel rank holds whole).
    window: tokens kept at most; None keeps all. stride: one entry for every so many tokens.
    format: precision fixed by the architecture; None is the declared cache precision.
    """

    elements: int
    shards: int = 1
    window: int | None = None
    stride: int = 1
    role: Literal["kv", "latent", "index", "cross"] = "kv"
    format: str | None = None


@dataclass(frozen=True, slots=True)
class RecurrentState:
    """What one layer keeps for a sequence whatever its length.

    convolution_elements, state_elements: values; the bytes of each say how they are stored.
    shards: ranks that can divide it (heads). convolution_columns: steps that the convolution looks back.
    """

    convolution_elements: int = 0
    state_elements: int = 0
    shards: int = 1
    convolution_bytes: float = 2.0
    state_bytes: float = 4.0
    convolution_columns: int = 3

    @property
    def bytes_per_sequence(self) -> float:
        return self.convolution_elements * self.convolution_bytes + self.state_elements * self.state_bytes

    @property
    def column_bytes(self) -> float:
        """One step of the convolution."""
        return self.convolution_elements * self.convolution_bytes / max(1, self.convolution_columns)


MixerKind = Literal[
    "full-attention",
    "sliding-attention",
    "chunked-attention",
    "latent-attention",
    "sparse-latent-attention",
    "compressed-attention",
    "sparse-attention",
    "cross-attention",
    "mamba-1",
    "mamba-2",
    "gated-delta-net",
    "kimi-delta-attention",
    "lightning-attention",
    "rwkv",
    "short-convolution",
    "linear",
    "none",
]


@dataclass(frozen=True, slots=True)
class Mixer:
    """How tokens of a sequence see each other in a layer.

    heads: query heads (or state heads). kv_heads: heads of the cache.
    key_dim, value_dim: per head, of the score and the value product in prefill.
    decode_key_dim, decode_value_dim: the same in decode where they differ (absorbed latent attention).
    window: tokens that a query sees at most; sparse_tokens: tokens selected by an index, at most.
    index_heads, index_dim: of the indexer's own scores.
    """

    kind: MixerKind
    weights: tuple[Weight, ...] = ()
    cache: tuple[CacheEntry, ...] = ()
    state: RecurrentState | None = None
    heads: int = 0
    kv_heads: int = 0
    key_dim: int = 0
    value_dim: int = 0
    decode_key_dim: int | None = None
    decode_value_dim: int | None = None
    window: int | None = None
    sparse_tokens: int | None = None
    index_heads: int = 0
    index_dim: int = 0
    query_key_norm: bool = False

    @property
    def attends(self) -> bool:
        """Whether the cost of a token grows with what came before it."""
        return self.heads > 0 and self.state is None and self.kind not in ("none", "linear")


@dataclass(frozen=True, slots=True)
class FeedForward:
    """The token-wise part of a layer. `experts` is 0 for a dense one; `width` is that of one expert."""

    kind: Literal["dense", "experts", "none"]
    weights: tuple[Weight, ...] = ()
    width: int = 0
    experts: int = 0
    experts_per_token: int = 0
    shared_width: int = 0


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Equal layers. `layers` are their positions in the stack, in order.

    Several mixers (attention beside a state space) or feed-forwards (dense beside experts) run in parallel.
    """

    layers: tuple[int, ...]
    mixers: tuple[Mixer, ...] = ()
    feed_forwards: tuple[FeedForward, ...] = ()
    norms: tuple[Weight, ...] = ()

    @property
    def count(self) -> int:
        return len(self.layers)

    def weights(self) -> Iterator[Weight]:
        """Every weight of one layer of the group."""
        for mixer in self.mixers:
            yield from mixer.weights
        for feed_forward in self.feed_forwards:
            yield from feed_forward.weights
        yield from self.norms


@dataclass(frozen=True, slots=True)
class Model:
    """A model: layer groups, what stands around them, and what its publisher fixed.

    dtype: format of every weight that names none. embedding: token (and position, per-layer) tables.
    head: None where it is tied to the embedding, which then is read as the head too.
    towers: vision or audio weights. tower_heads: attention heads of the image encoder, 0 where there is none or its
    config does not say. prediction_layers: multi-token-prediction layers, loaded only when
    speculation uses them. cache_format: what the checkpoint fixes, else None. exact: False where the
    description comes from bare figures. quantization: the checkpoint's own name of its scheme, else None.
    nominal: the format whose bits by name an ideal engine charges for every parameter; None is `dtype`.
    """

    name: str
    hidden: int
    vocabulary: int
    groups: tuple[LayerGroup, ...]
    embedding: tuple[Weight, ...] = ()
    head: Weight | None = None
    norms: tuple[Weight, ...] = ()
    towers: tuple[Weight, ...] = ()
    tower_heads: int = 0
    prediction_layers: tuple[LayerGroup, ...] = ()
    prediction_extra: tuple[Weight, ...] = ()
    dtype: str = "bf16"
    cache_format: str | None = None
    quantization: str | None = None
    nominal: str | None = None
    max_context: int | None = None
    family: str = ""
    exact: bool = True
    multimodal: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def layers(self) -> int:
        return sum(group.count for group in self.groups)

    @property
    def nominal_format(self) -> str:
        return self.nominal or self.dtype

    @property
    def tied(self) -> bool:
        return self.head is None

    def weights(self) -> Iterator[tuple[int, Weight]]:
        """(how many layers hold it, weight), towers included, prediction layers not."""
        for group in self.groups:
            for weight in group.weights():
                yield group.count, weight
        for weight in (*self.embedding, *((self.head,) if self.head else ()), *self.norms, *self.towers):
            yield 1, weight

    @property
    def parameters(self) -> int:
        """All parameters as the engine loads them: towers counted, prediction layers not."""
        return sum(count * weight.parameters for count, weight in self.weights())

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses: the experts it is routed to, everything else whole."""
        return sum(count * weight.active_parameters for count, weight in self.weights())

    @property
    def attention_layers(self) -> int:
        return sum(group.count for group in self.groups if any(mixer.cache for mixer in group.mixers))

    def cache_entries(self) -> Iterator[tuple[int, CacheEntry]]:
        """(how many layers hold it, entry)."""
        for group in self.groups:
            for mixer in group.mixers:
                for entry in mixer.cache:
                    yield group.count, entry

    def states(self) -> Iterator[tuple[int, RecurrentState]]:
        """(how many layers hold it, state)."""
        for group in self.groups:
            for mixer in group.mixers:
                if mixer.state is not None:
                    yield group.count, mixer.state

    @property
    def state_bytes_per_sequence(self) -> float:
        return math.fsum(count * state.bytes_per_sequence for count, state in self.states())
