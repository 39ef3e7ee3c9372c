"""MPT: sizes in nested maps, ALiBi in place of a position table, tied embeddings, no biases."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, uniform
from planner.architectures.feed_forward import plain
from planner.architectures.fields import Fields
from planner.architectures.stack import hidden_size
from planner.domain.model import Model

MODEL_TYPES = ("mpt",)
DEFAULTS: dict[str, dict[str, Any]] = {"mpt": {"expansion_ratio": 4, "no_bias": True, "vocab_size": 50368}}


def read(fields: Fields) -> Model:
    hidden = hidden_size(fields)
    nested = fields.below("attn_config")
    bias = not fields.flag("no_bias", default=True)
    kv_heads = nested.optional("kv_n_heads")
    if nested.text("attn_type") == "multiquery_attention":
        kv_heads = 1
    attention = grouped_attention(fields, kv_heads=kv_heads, input_bias=bias, output_bias=bias)
    inner = int(fields.number("expansion_ratio", default=4.0) * hidden)
    has_table = fields.flag("learned_pos_emb", default=True) and not nested.flag("alibi", default=True)
    return uniform(
        fields,
        attention,
        plain(hidden, inner, bias=bias),
        layer_norms=weights.norms(hidden, "norm_1", "norm_2", bias=bias),
        norm_bias=bias,
        embedding=(weights.positions(fields.need("max_seq_len"), hidden),) if has_table else (),
        tied=True,
    )
