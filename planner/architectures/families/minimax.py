"""MiniMax: lightning attention but for every eighth layer (Text-01, M1); plain attention with full norms (M2)."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import experts, grouped_attention, layer_types, pre_norms, uniform, width
from planner.architectures.fields import Fields
from planner.architectures.recurrent import lightning
from planner.architectures.stack import Layer, assemble, group, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("minimax_text_01", "minimax_m1", "minimax", "minimax_m2")
DEFAULTS: dict[str, dict[str, Any]] = {}


def read(fields: Fields) -> Model:
    """Experts are as wide as `intermediate_size`. M2 selects with a bias for each expert (`use_routing_bias`)."""
    newer = fields.text("model_type") == "minimax_m2"
    normed = newer and fields.flag("use_qk_norm", default=True)
    attention = grouped_attention(fields, query_key_norm="full" if normed else "")
    mixture = experts(
        fields,
        width=width(fields),
        shared_width=fields.count("shared_intermediate_size"),
        router_bias=newer and fields.flag("use_routing_bias", default=True),
        prefix="block_sparse_moe",
        names=("w1", "w3", "w2"),
    ).feed_forward()
    if newer:
        return uniform(fields, attention, mixture, tied=False)
    layers = layer_count(fields)
    linear = lightning(attention.hidden, attention.heads, attention.head_dim)

    def build(attends: bool) -> Layer:
        return Layer((attention.mixer() if attends else linear,), (mixture,), pre_norms(attention.hidden))

    return assemble(fields, group(_attends(fields, layers), build), tied=False)


def _attends(fields: Fields, layers: int) -> list[bool]:
    """`attn_type_list`: 0 lightning, 1 softmax; or `layer_types`; else every second layer."""
    if fields.has("attn_type_list"):
        return [item == 1 for item in fields.per_layer(layers, "attn_type_list", smallest=0)]
    types = layer_types(fields, layers)
    return [item == "full_attention" for item in types] if types else [bool((i + 1) % 2) for i in range(layers)]
