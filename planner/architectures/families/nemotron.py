"""Nemotron-4 and Jais 2: plain squared-ReLU feed-forward, layer norms with biases."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import grouped_attention, pre_norms, uniform, width
from planner.architectures.feed_forward import plain
from planner.architectures.fields import Fields
from planner.domain.model import Model

MODEL_TYPES = ("nemotron", "jais2")
DEFAULTS: dict[str, dict[str, Any]] = {
    "nemotron": {"vocab_size": 256000},
    "jais2": {"attention_bias": True, "mlp_bias": True},
}


def read(fields: Fields) -> Model:
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    fed = plain(attention.hidden, width(fields), bias=fields.flag("mlp_bias"))
    norms = pre_norms(attention.hidden, bias=True)
    return uniform(fields, attention, fed, layer_norms=norms, norm_bias=True, tied=False)
