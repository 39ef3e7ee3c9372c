"""MiMo and MiMo-V2: Qwen-like (1); sliding layers with KV heads and head dims of their own, experts (2)."""

from __future__ import annotations

from typing import Any

from planner.architectures import prediction, weights
from planner.architectures.attention import Attention
from planner.architectures.decoder import (
    HEAD_NAMES,
    experts,
    grouped_attention,
    layer_types,
    pre_norms,
    sparse_layers,
    uniform,
    width,
)
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("mimo", "mimo_v2_flash", "mimo_v2")
DEFAULTS: dict[str, dict[str, Any]] = {}


def read(fields: Fields) -> Model:
    if fields.text("model_type") != "mimo":
        return _second(fields)
    attention = grouped_attention(fields, input_bias=fields.flag("attention_bias", default=True))
    fed, layers = gated(attention.hidden, width(fields)), layer_count(fields)
    predicted = fields.count("num_nextn_predict_layers")
    layer = Layer((attention.mixer(),), (fed,), pre_norms(attention.hidden))
    return uniform(
        fields, attention, fed, tied=False,
        prediction_layers=prediction.layers(layer, layers, predicted),
        prediction_extra=prediction.extra(attention.hidden, predicted),
    )  # fmt: skip


def _second(fields: Fields) -> Model:
    """`hybrid_layer_pattern`: 1 slides. `attention_chunk_size` in these files means nothing."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    types = layer_types(fields, layers)
    slides = fields.per_layer(layers, "hybrid_layer_pattern", default=0, smallest=0)
    if types and not fields.has("hybrid_layer_pattern"):
        slides = [int("sliding" in item) for item in types]
    sparse = sparse_layers(fields, layers)
    mixture = experts(fields, router_bias=fields.text("topk_method") == "noaux_tc")

    def build(kind: tuple[int, bool]) -> Layer:
        mixer = (_sliding(fields) if kind[0] else _full(fields)).mixer()
        fed = mixture.feed_forward() if kind[1] else gated(hidden, width(fields))
        return Layer((mixer,), (fed,), pre_norms(hidden))

    return assemble(fields, group(list(zip(slides, sparse, strict=True)), build), tied=False)


def _full(fields: Fields) -> Attention:
    sinks = fields.flag("add_full_attention_sink_bias")
    return grouped_attention(
        fields,
        value_dim=fields.optional("v_head_dim"),
        input_bias=fields.flag("attention_bias"),
        extra=(weights.vector("self_attn.attention_sink_bias", fields.need(*HEAD_NAMES), "column"),) if sinks else (),
    )


def _sliding(fields: Fields) -> Attention:
    heads = fields.optional("swa_num_attention_heads") or fields.need(*HEAD_NAMES)
    sinks = fields.flag("add_swa_attention_sink_bias")
    return Attention(
        hidden=hidden_size(fields),
        heads=heads,
        kv_heads=fields.need("swa_num_key_value_heads", "num_key_value_heads"),
        head_dim=fields.need("swa_head_dim", "head_dim"),
        value_dim=fields.optional("swa_v_head_dim", "v_head_dim"),
        input_bias=fields.flag("attention_bias"),
        window=fields.need("sliding_window", "sliding_window_size"),
        extra=(weights.vector("self_attn.attention_sink_bias", heads, "column"),) if sinks else (),
    )
