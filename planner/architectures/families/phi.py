"""Phi: Phi-1 and 2 (biases, one norm), Phi-3 and 4 (Llama-like), Phi-3-small, Phi-3.5-MoE."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import effective_window, experts, grouped_attention, uniform, width
from planner.architectures.feed_forward import gated, plain
from planner.architectures.fields import Fields
from planner.architectures.stack import hidden_size, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("phi", "phi-msft", "mixformer-sequential", "phi3", "phi3small", "phimoe", "phi4mm", "phi3_v")
DEFAULTS: dict[str, dict[str, Any]] = {"phimoe": {"attention_bias": True, "lm_head_bias": True}}


def read(fields: Fields) -> Model:
    kind = fields.text("model_type")
    readers = {"phi3": _phi3, "phi4mm": _phi3, "phi3_v": _phi3, "phi3small": _small, "phimoe": _mixture}
    return readers.get(kind, _phi2)(fields)


def _phi2(fields: Fields) -> Model:
    """Attention and feed-forward in parallel behind one norm; a bias on everything, the head included."""
    hidden = hidden_size(fields)
    attention = grouped_attention(fields, input_bias=True, output_bias=True)
    own_norms = weights.norms(attention.head_dim, "q_layernorm", "k_layernorm", bias=True)
    return uniform(
        fields,
        attention,
        plain(hidden, width(fields, 4 * hidden), bias=True),
        layer_norms=(
            *weights.norms(hidden, "input_layernorm", bias=True),
            *(own_norms if fields.flag("qk_layernorm") else ()),
        ),
        norm_bias=True,
        head_bias=True,
        tied=False,
    )


def _phi3(fields: Fields) -> Model:
    """A window as long as the context is none at all (262144 against 131072)."""
    attention = grouped_attention(fields)
    window = effective_window(fields, fields.optional("sliding_window"))
    spans = [window] * layer_count(fields)
    return uniform(fields, attention, gated(attention.hidden, width(fields)), layer_windows=spans, tied=False)


def _small(fields: Fields) -> Model:
    """Phi-3-small: biases everywhere, block-sparse attention on all but every second layer (cached whole)."""
    attention = grouped_attention(fields, input_bias=True, output_bias=True)
    hidden = attention.hidden
    return uniform(
        fields,
        attention,
        gated(hidden, width(fields), bias=True),
        layer_norms=weights.norms(hidden, "input_layernorm", "post_attention_layernorm", bias=True),
        norm_bias=True,
        tied=True,
    )


def _mixture(fields: Fields) -> Model:
    """Phi-3.5-MoE: biases on attention and head, none on experts."""
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    hidden = attention.hidden
    mixture = experts(fields, width=width(fields), shared_width=0, prefix="block_sparse_moe", names=("w1", "w3", "w2"))
    window = effective_window(fields, fields.optional("sliding_window"))
    return uniform(
        fields,
        attention,
        mixture.feed_forward(),
        layer_windows=[window] * layer_count(fields),
        layer_norms=weights.norms(hidden, "input_layernorm", "post_attention_layernorm", bias=True),
        norm_bias=True,
        head_bias=fields.flag("lm_head_bias"),
        tied=False,
    )
