"""Llama and the decoders that only rename it: grouped attention, gated feed-forward, two norms a layer."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import grouped_attention, uniform, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.domain.model import Model

MODEL_TYPES = ("llama", "yi", "aquila", "xverse", "internlm", "deepseek_llm", "vicuna", "skywork")
DEFAULTS: dict[str, dict[str, Any]] = {"llama": {"vocab_size": 32000}}
NESTED_DEFAULTS: dict[str, dict[str, Any]] = {
    "llama": {
        "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
        "max_position_embeddings": 2048,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    """Biases where `attention_bias`, `mlp_bias` (or `bias`, InternLM-1: all four of attention) say so."""
    bias = fields.flag("attention_bias", "bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    return uniform(fields, attention, gated(attention.hidden, width(fields), bias=fields.flag("mlp_bias")), tied=False)
