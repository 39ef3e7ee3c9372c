"""OLMo Hybrid: gated delta nets with attention in every fourth layer, norms before or after by kind."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, layer_types, pre_norms, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.recurrent import GatedDeltaNet, state_bytes
from planner.architectures.stack import Layer, assemble, group, layer_count
from planner.domain.model import Mixer, Model

MODEL_TYPES = ("olmo_hybrid",)
DEFAULTS: dict[str, dict[str, Any]] = {"olmo_hybrid": {"linear_conv_kernel_dim": 4}}


def read(fields: Fields) -> Model:
    layers = layer_count(fields)
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias, query_key_norm="full")
    hidden, fed = attention.hidden, gated(attention.hidden, width(fields))
    types = layer_types(fields, layers)
    attends = [item == "full_attention" for item in types] if types else [(i + 1) % 4 == 0 for i in range(layers)]
    after = weights.norms(hidden, "post_attention_layernorm", "post_feedforward_layernorm")

    def build(full: bool) -> Layer:
        if full:
            return Layer((attention.mixer(),), (fed,), after)
        return Layer((_delta(fields, hidden),), (fed,), pre_norms(hidden))

    return assemble(fields, group(attends, build), tied=False)


def _delta(fields: Fields, hidden: int) -> Mixer:
    return GatedDeltaNet(
        hidden=hidden,
        key_heads=fields.need("linear_num_key_heads"),
        value_heads=fields.need("linear_num_value_heads"),
        key_dim=fields.need("linear_key_head_dim"),
        value_dim=fields.need("linear_value_head_dim"),
        kernel=fields.need("linear_conv_kernel_dim"),
        bytes=state_bytes(fields),
    ).mixer()
