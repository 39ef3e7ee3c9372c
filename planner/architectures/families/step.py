"""Step-3 and Step-3.5/3.7: shared low-rank queries (3); gated heads, sliding layers (3.5); one shared expert."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import (
    HEAD_NAMES,
    dense_or_experts,
    experts,
    grouped_attention,
    pre_norms,
    sparse_layers,
    uniform,
    windows,
)
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import CacheEntry, Mixer, Model

MODEL_TYPES = ("step3_text", "step3", "step3_vl", "step3p5", "step3p7", "step3p7_text")
DEFAULTS: dict[str, dict[str, Any]] = {}


def read(fields: Fields) -> Model:
    layers = layer_count(fields)
    shared = fields.count("share_expert_dim", "share_expert_dims")
    bias = fields.flag("use_moe_router_bias")
    mixture = experts(fields, shared_width=shared, router_bias=bias, prefix="moe", shared="share_expert")
    choose = dense_or_experts(fields, mixture)
    sparse = _sparse(fields, layers)
    if fields.has("share_q_dim"):
        hidden = hidden_size(fields)
        mixer = _factored(fields)
        groups = group(sparse, lambda routed: Layer((mixer,), (choose(routed),), pre_norms(hidden)))
        return assemble(fields, groups, tied=False)
    heads = fields.need(*HEAD_NAMES)
    gate = weights.column("self_attn.g_proj", heads, hidden_size(fields))
    attention = grouped_attention(fields, query_key_norm="head", extra=gate)
    return uniform(fields, attention, choose, layer_windows=windows(fields, layers), sparse=sparse, tied=False)


def _sparse(fields: Fields, layers: int) -> list[bool]:
    """`moe_layers_enum`: the layers with experts, as text; else the usual fields."""
    listed = fields.text("moe_layers_enum")
    if not listed:
        return sparse_layers(fields, layers)
    members = {int(item) for item in listed.split(",")[:layers] if item.strip().isdecimal()}
    return [index in members for index in range(layers)]


def _factored(fields: Fields) -> Mixer:
    """Queries share a low rank; keys and values of one head are whole on every rank."""
    hidden, heads = hidden_size(fields), fields.need(*HEAD_NAMES)
    kv_heads = fields.optional("num_attention_groups") or 1
    head_dim, rank = fields.need("head_dim"), fields.need("share_q_dim")
    return Mixer(
        kind="full-attention",
        weights=(
            *weights.whole("self_attn.qkv_proj", rank + 2 * kv_heads * head_dim, hidden),
            weights.vector("self_attn.inter_norm", rank),
            *weights.column("self_attn.wq", heads * head_dim, rank),
            *weights.row("self_attn.o_proj", hidden, heads * head_dim),
        ),
        cache=(CacheEntry(2 * kv_heads * head_dim, kv_heads),),
        heads=heads,
        kv_heads=kv_heads,
        key_dim=head_dim,
        value_dim=head_dim,
    )
