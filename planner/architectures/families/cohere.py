"""Cohere's Command models: attention and feed-forward in parallel behind one norm, tied embeddings."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, uniform, width, windows
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("cohere", "cohere2")
DEFAULTS: dict[str, dict[str, Any]] = {
    "cohere": {"vocab_size": 256000, "max_position_embeddings": 8192},
    "cohere2": {"vocab_size": 256000, "sliding_window": 4096, "sliding_window_pattern": 4, "head_dim": 128},
}


def read(fields: Fields) -> Model:
    """Command-R+ norms queries and keys with weights for each head; Command-A slides on all but every fourth layer."""
    bias = fields.flag("attention_bias")
    attention = grouped_attention(
        fields, input_bias=bias, output_bias=bias, query_key_norm="per-head" if fields.flag("use_qk_norm") else ""
    )
    layers = layer_count(fields)
    newer = fields.text("model_type") == "cohere2"
    spans = windows(fields, layers, every=fields.optional("sliding_window_pattern")) if newer else [None] * layers
    return uniform(
        fields,
        attention,
        gated(attention.hidden, width(fields)),
        layer_windows=spans,
        layer_norms=weights.norms(attention.hidden, "input_layernorm"),
        tied=True,
    )
