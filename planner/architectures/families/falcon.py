"""Falcon 7B, 40B and 180B: one or few KV heads, plain feed-forward of four times the width, tied embeddings."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, uniform, width
from planner.architectures.feed_forward import plain
from planner.architectures.fields import Fields
from planner.architectures.stack import hidden_size
from planner.domain.model import Model

MODEL_TYPES = ("falcon", "RefinedWeb", "RefinedWebModel")
DEFAULTS: dict[str, dict[str, Any]] = {
    "falcon": {"vocab_size": 65024, "multi_query": True, "parallel_attn": True, "bias": False},
}


def read(fields: Fields) -> Model:
    """`multi_query` counts only without `new_decoder_architecture`, and then `num_kv_heads` does not."""
    hidden = hidden_size(fields)
    newer = fields.flag("new_decoder_architecture")
    kv_heads = None if newer else 1 if fields.flag("multi_query", default=True) else _heads(fields)
    bias = fields.flag("bias")
    attention = grouped_attention(fields, kv_heads=kv_heads, input_bias=bias, output_bias=bias)
    fed = plain(hidden, width(fields, 4 * hidden), bias=bias)
    return uniform(
        fields, attention, fed, layer_norms=weights.norms(hidden, *_norms(fields, newer), bias=True),
        norm_bias=True, tied=True,
    )  # fmt: skip


def _heads(fields: Fields) -> int:
    return fields.need("num_attention_heads", "n_head")


def _norms(fields: Fields, newer: bool) -> tuple[str, ...]:
    """One norm where attention and feed-forward run in parallel behind it; two otherwise, and in newer Falcons."""
    count = fields.optional("num_ln_in_parallel_attn") or (2 if newer else 1)
    if not fields.flag("parallel_attn", default=True):
        count = 2
    return ("input_layernorm", "post_attention_layernorm")[:count]
