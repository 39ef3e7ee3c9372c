"""Gemma 4: full layers with wider heads (and, in large ones, values taken from keys), experts beside a dense part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.attention import Attention
from planner.architectures.decoder import experts, grouped_attention, width, windows
from planner.architectures.families.gemma import four_norms
from planner.architectures.families.gemma3n import per_layer_input, per_layer_projection, per_layer_table
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("gemma4_text", "gemma4", "gemma4_unified_text", "gemma4_unified")
DEFAULTS: dict[str, dict[str, Any]] = {
    "gemma4_text": {
        "vocab_size": 262144, "head_dim": 256, "global_head_dim": 512, "sliding_window": 512,
        "max_position_embeddings": 131072, "vocab_size_per_layer_input": 262144,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    """The last `num_kv_shared_layers` reuse keys and values, and are twice as wide where `use_double_wide_mlp`."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    attention = grouped_attention(fields, query_key_norm="head")
    spans = windows(fields, layers, every=6)
    owners = layers - fields.count("num_kv_shared_layers")
    wide = 2 if fields.flag("use_double_wide_mlp") else 1
    full = _full(fields, attention)
    norms = (*four_norms(hidden), *per_layer_input(fields, hidden), weights.vector("layer_scalar", 1))
    sparse = fields.flag("enable_moe_block")
    if sparse:
        names = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")
        norms += weights.norms(hidden, *names)

    def build(kind: tuple[int | None, bool]) -> Layer:
        window, cached = kind
        mixer = replace(attention if window else full, window=window, cached=cached).mixer()
        fed = [gated(hidden, width(fields) * (1 if cached else wide))]
        if sparse:
            extra = (weights.vector("router.scale", hidden), weights.vector("router.per_expert_scale", _count(fields)))
            mixture = experts(fields, shared_width=0, prefix="moe", router="router.proj", extra=extra)
            fed.append(mixture.feed_forward())
        return Layer((mixer,), tuple(fed), norms)

    return assemble(
        fields,
        group([(spans[index], index < owners) for index in range(layers)], build),
        tied=True,
        embedding=per_layer_table(fields, layers),
        norms=per_layer_projection(fields, layers, hidden),
    )


def _count(fields: Fields) -> int:
    return fields.need("num_experts")


def _full(fields: Fields, sliding: Attention) -> Attention:
    """Full layers: `global_head_dim`; with `attention_k_eq_v`, KV heads of their own and no value product."""
    shared = fields.flag("attention_k_eq_v")
    kv_heads = fields.optional("num_global_key_value_heads") if shared else None
    head_dim = fields.optional("global_head_dim") or sliding.head_dim
    return replace(sliding, head_dim=head_dim, kv_heads=kv_heads or sliding.kv_heads, value_product=not shared)
