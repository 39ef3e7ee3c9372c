"""Reading the parts that most decoders share: grouped attention, windows, feed-forward widths, experts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from planner.architectures import feed_forward, weights
from planner.architectures.attention import Attention
from planner.architectures.feed_forward import Experts
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count, max_context
from planner.domain.model import FeedForward, Model, Weight

HEAD_NAMES = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEAD_NAMES = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "num_attention_groups", "n_kv_heads")
HEAD_DIM_NAMES = ("head_dim", "attention_head_dim", "kv_channels", "hidden_size_per_head")
WIDTH_NAMES = ("intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner", "ff_intermediate_size", "d_ff")
EXPERT_NAMES = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts")
PER_TOKEN_NAMES = (
    "num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk", "moe_top_k", "top_k_experts",
    "num_selected_experts", "moe_router_topk",
)  # fmt: skip
EXPERT_WIDTH_NAMES = (
    "moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size", "expert_ffn_hidden_size",
)  # fmt: skip
MOST_HEADS = 1 << 16
MOST_EXPERTS = 1 << 16


def grouped_attention(fields: Fields, **changes: Any) -> Attention:
    """Attention from the usual fields. No KV heads named: as many as heads. No head dim: hidden / heads."""
    hidden = hidden_size(fields)
    heads = fields.need(*HEAD_NAMES, largest=MOST_HEADS)
    kv_heads = changes.pop("kv_heads", None) or fields.optional(*KV_HEAD_NAMES, largest=MOST_HEADS) or heads
    head_dim = changes.pop("head_dim", None) or fields.optional(*HEAD_DIM_NAMES, largest=MOST_HEADS)
    if head_dim is None:
        fields.divides(HEAD_NAMES[0], hidden, heads)
        head_dim = max(1, hidden // heads)
    fields.divides(KV_HEAD_NAMES[0], heads, kv_heads)
    return Attention(hidden, heads, kv_heads, head_dim, **changes)


def width(fields: Fields, default: int | None = None) -> int:
    """Width of the dense feed-forward; `default` where the config leaves it out."""
    found = fields.optional(*WIDTH_NAMES)
    return found or default or fields.need(*WIDTH_NAMES)


def effective_window(fields: Fields, window: int | None) -> int | None:
    """The window, None where it covers the whole context anyway."""
    context = max_context(fields)
    return None if window is None or (context is not None and window >= context - 1) else window


def layer_types(fields: Fields, layers: int) -> list[str] | None:
    """`layer_types` as the file lists it, checked to cover every layer; None where there is none."""
    found = fields.sequence("layer_types", "layers_block_type")
    if found is None:
        return None
    if len(found) < layers:
        fields.problem("layer_types", f"{layers} items, one a layer, are expected; {len(found)} were read")
        return None
    return [str(item) for item in found[:layers]]


def windows(fields: Fields, layers: int, *, every: int | None = None, name: str = "sliding_window") -> list[int | None]:
    """The window of each layer: by `layer_types`, else all but every `every`-th layer, else all layers."""
    window = effective_window(fields, fields.optional(name))
    types = layer_types(fields, layers)
    if types is not None:
        return [window if "sliding" in item else None for item in types]
    if every:
        return [window if (index + 1) % every else None for index in range(layers)]
    return [window] * layers


def experts(fields: Fields, **changes: Any) -> Experts:
    """A mixture of experts from the usual fields; `changes` are what the family fixes."""
    expert_width = changes.pop("width", None) or fields.optional(*EXPERT_WIDTH_NAMES) or width(fields)
    count = changes.pop("experts", None) or fields.need(*EXPERT_NAMES, largest=MOST_EXPERTS)
    shared_width = changes.pop("shared_width", None)
    if shared_width is None:
        shared = fields.count("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
        shared_width = shared * expert_width
    per_token = changes.pop("per_token", None) or fields.need(*PER_TOKEN_NAMES, largest=MOST_EXPERTS)
    return Experts(
        changes.pop("hidden", None) or hidden_size(fields), count, per_token, expert_width, shared_width, **changes
    )


def sparse_layers(fields: Fields, layers: int) -> list[bool]:
    """Which layers hold experts: by `first_k_dense_replace` and `moe_layer_freq`, or `mlp_layer_types`."""
    types = fields.sequence("mlp_layer_types")
    if types is not None and len(types) >= layers:
        return [str(item) in ("sparse", "moe") for item in types[:layers]]
    frequency = fields.raw("moe_layer_freq")
    if isinstance(frequency, list):
        return [bool(item) for item in fields.per_layer(layers, "moe_layer_freq", smallest=0)]
    every = fields.optional("moe_layer_freq", "moe_layer_interval") or 1
    dense = fields.count("first_k_dense_replace", "num_dense_layers")
    return [index >= dense and index % every == 0 for index in range(layers)]


def pre_norms(hidden: int, *, bias: bool = False) -> tuple[Weight, ...]:
    """The two norms of most layers: before the mixer, before the feed-forward."""
    return weights.norms(hidden, "input_layernorm", "post_attention_layernorm", bias=bias)


def uniform(
    fields: Fields,
    attention: Attention,
    feed_forward_of: FeedForward | Callable[[bool], FeedForward],
    *,
    layer_windows: Sequence[int | None] | None = None,
    sparse: Sequence[bool] | None = None,
    layer_norms: tuple[Weight, ...] | None = None,
    **around: Any,
) -> Model:
    """A stack that differs by window and by whether a layer holds experts, and in nothing else.

    feed_forward_of: of every layer, or `f(whether the layer is sparse)`.
    """
    layers = layer_count(fields)
    spans = layer_windows or [None] * layers
    kinds = list(zip(spans, sparse or [False] * layers, strict=True))
    found = pre_norms(attention.hidden) if layer_norms is None else layer_norms

    def build(kind: tuple[int | None, bool]) -> Layer:
        window, has_experts = kind
        fed = feed_forward_of(has_experts) if callable(feed_forward_of) else feed_forward_of
        return Layer((replace(attention, window=window).mixer(),), (fed,), found)

    return assemble(fields, group(kinds, build), **around)


def dense_or_experts(fields: Fields, mixture: Experts, dense_width: int | None = None) -> Callable[[bool], FeedForward]:
    """`f(sparse)`: the experts, or a gated feed-forward of the dense width."""

    def choose(sparse: bool) -> FeedForward:
        if sparse:
            return mixture.feed_forward()
        return feed_forward.gated(mixture.hidden, dense_width or width(fields))

    return choose
