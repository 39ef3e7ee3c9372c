"""A config whose model type no family reads, read like Llama where its fields suffice."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import (
    EXPERT_NAMES,
    dense_or_experts,
    experts,
    grouped_attention,
    sparse_layers,
    uniform,
    width,
    windows,
)
from planner.architectures.families import deepseek
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

DEFAULTS: dict[str, dict[str, Any]] = {}


def read(fields: Fields) -> Model:
    """Latent attention, experts, windows, biases and head norms where fields of their usual names say so."""
    if fields.has("kv_lora_rank"):
        return deepseek.read(fields)
    bias = fields.flag("attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias")
    attention = grouped_attention(
        fields,
        input_bias=bias,
        output_bias=fields.flag("attention_bias", "attention_out_bias"),
        query_key_norm="head" if fields.flag("use_qk_norm", "qk_norm") else "",
    )
    layers = layer_count(fields)
    spans = windows(fields, layers) if fields.flag("use_sliding_window", default=True) else [None] * layers
    if not fields.has(*EXPERT_NAMES):
        fed = gated(attention.hidden, width(fields), bias=fields.flag("mlp_bias"))
        return uniform(fields, attention, fed, layer_windows=spans, tied=False)
    choose = dense_or_experts(fields, experts(fields))
    return uniform(fields, attention, choose, layer_windows=spans, sparse=sparse_layers(fields, layers), tied=False)
