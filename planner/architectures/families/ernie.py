"""ERNIE 4.5: tied embeddings; experts in a range of layers, with a selection bias."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures.attention import Attention
from planner.architectures.decoder import dense_or_experts, experts, grouped_attention, uniform, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = (
    "ernie4_5", "ernie4_5_moe", "ernie4_5_text", "ernie4_5_vl_moe_text", "ernie4_5_moe_vl", "ernie4_5_vl_moe",
)  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {"ernie4_5_moe": {"moe_layer_start_index": 1, "vocab_size": 103424}}


def read(fields: Fields) -> Model:
    bias = fields.flag("use_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    if not fields.has("moe_num_experts"):
        return uniform(fields, attention, gated(attention.hidden, width(fields), bias=bias), tied=True)
    widths = fields.sequence("moe_intermediate_size")
    if widths:
        return _vision_language(fields, attention)
    mixture = experts(fields, router_bias=fields.flag("moe_use_aux_free", default=True))
    choose = dense_or_experts(fields, mixture)
    return uniform(fields, attention, choose, sparse=_sparse(fields, layer_count(fields)), tied=True)


def _vision_language(fields: Fields, attention: Attention) -> Model:
    """Experts of their own for text and for images, as lists of two say; the shared ones serve both."""
    widths, counts = fields.per_layer(2, "moe_intermediate_size"), fields.per_layer(2, "moe_num_experts")
    shared = fields.count("moe_num_shared_experts") * widths[0]
    text = experts(fields, experts=counts[0], width=widths[0], shared_width=shared, router_bias=True).feed_forward()
    images = experts(
        fields, experts=counts[1], width=widths[1], shared_width=0, router_bias=True, prefix="mlp.vision_moe"
    ).feed_forward()
    both = replace(text, weights=(*text.weights, *(replace(item, active_copies=0) if item.role == "expert" else item
                                                   for item in images.weights)))  # fmt: skip
    dense = gated(attention.hidden, width(fields))
    sparse = _sparse(fields, layer_count(fields))
    return uniform(fields, attention, lambda routed: both if routed else dense, sparse=sparse, tied=True)


def _sparse(fields: Fields, layers: int) -> list[bool]:
    """Layers from `moe_layer_start_index` to `moe_layer_end_index`, every `moe_layer_interval`-th."""
    start, last = fields.raw("moe_layer_start_index"), fields.raw("moe_layer_end_index")
    first = min((item for item in start if isinstance(item, int)), default=0) if isinstance(start, list) else 0
    first = start if isinstance(start, int) else first
    if isinstance(last, list):
        last = max((item for item in last if isinstance(item, int)), default=None)
    last = last if isinstance(last, int) and 0 <= last < layers else layers - 1
    every = fields.optional("moe_layer_interval") or 1
    return [first <= index <= last and (index + 1) % every == 0 for index in range(layers)]
