"""Baichuan, InternLM 2 and 3, Orion, TeleChat, Qwen-1: Llama under other names and biases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, pre_norms, uniform, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.domain.model import Model

MODEL_TYPES = (
    "baichuan", "baichuan_m1", "internlm2", "internlm3", "orion", "telechat", "telechat2", "qwen", "mimo_text",
)  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {
    "baichuan": {"vocab_size": 125696},
    "internlm2": {"vocab_size": 103168, "bias": False},
    "qwen": {"vocab_size": 151936},
}


def read(fields: Fields) -> Model:
    """Qwen-1's `intermediate_size` counts both halves; Orion's norms have biases; TeleChat's feed-forward too."""
    kind = fields.text("model_type")
    bias = fields.flag("bias", "attention_bias")
    input_bias = {"qwen": True, "internlm3": fields.flag("qkv_bias", default=bias)}.get(kind, bias)
    attention = grouped_attention(fields, input_bias=input_bias, output_bias=bias)
    hidden = attention.hidden
    inner = width(fields) // 2 if kind == "qwen" else width(fields)
    if kind.startswith("telechat"):
        return _telechat(fields)
    layered = kind == "orion"
    fed = gated(hidden, inner, bias=fields.flag("mlp_bias", default=kind == "internlm3" and bias))
    return uniform(fields, attention, fed, layer_norms=pre_norms(hidden, bias=layered), norm_bias=layered, tied=False)


def _telechat(fields: Fields) -> Model:
    """Biases on the attention output and on the down product (`dense` and `down_proj`), none elsewhere."""
    attention = grouped_attention(fields, output_bias=True)
    fed = gated(attention.hidden, width(fields))
    bias = weights.vector("mlp.down_proj.bias", attention.hidden)
    return uniform(fields, attention, replace(fed, weights=(*fed.weights, bias)), tied=False)
