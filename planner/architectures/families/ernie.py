"""ERNIE 4.5: tied embeddings; experts in a range of layers, with a selection bias."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import dense_or_experts, experts, grouped_attention, uniform, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("ernie4_5", "ernie4_5_moe", "ernie4_5_text", "ernie4_5_vl_moe_text")
DEFAULTS: dict[str, dict[str, Any]] = {"ernie4_5_moe": {"moe_layer_start_index": 1, "vocab_size": 103424}}


def read(fields: Fields) -> Model:
    bias = fields.flag("use_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    if not fields.has("moe_num_experts"):
        return uniform(fields, attention, gated(attention.hidden, width(fields), bias=bias), tied=True)
    mixture = experts(fields, router_bias=fields.flag("moe_use_aux_free", default=True))
    choose = dense_or_experts(fields, mixture)
    return uniform(fields, attention, choose, sparse=_sparse(fields, layer_count(fields)), tied=True)


def _sparse(fields: Fields, layers: int) -> list[bool]:
    """Layers from `moe_layer_start_index` to `moe_layer_end_index`, every `moe_layer_interval`-th."""
    first = fields.count("moe_layer_start_index")
    last = fields.raw("moe_layer_end_index")
    last = last if isinstance(last, int) and 0 <= last < layers else layers - 1
    every = fields.optional("moe_layer_interval") or 1
    return [first <= index <= last and (index + 1) % every == 0 for index in range(layers)]
