"""StableLM, Persimmon, StarCoder2: layer norms with biases around Llama-like or plain layers."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, pre_norms, uniform, width, windows
from planner.architectures.feed_forward import gated, plain
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model, Weight

MODEL_TYPES = ("stablelm", "stablelm_epoch", "persimmon", "starcoder2")
DEFAULTS: dict[str, dict[str, Any]] = {
    "persimmon": {"qk_layernorm": True, "vocab_size": 262144},
    "starcoder2": {"use_bias": True, "vocab_size": 49152},
}


def read(fields: Fields) -> Model:
    kind = fields.text("model_type")
    if kind == "starcoder2":
        return _starcoder2(fields)
    if kind == "persimmon":
        return _persimmon(fields)
    attention = grouped_attention(fields, input_bias=fields.flag("use_qkv_bias"))
    per_head: tuple[Weight, ...] = ()
    if fields.flag("qk_layernorm"):
        size = (attention.heads + attention.kv_heads) * attention.head_dim
        per_head = (weights.vector("self_attn.qk_layernorm", size, "column"),)
    count = 1 if fields.flag("use_parallel_residual") else 2
    return uniform(
        fields,
        attention,
        gated(attention.hidden, width(fields)),
        layer_norms=(*pre_norms(attention.hidden, bias=True)[:count], *per_head),
        norm_bias=True,
        tied=False,
    )


def _starcoder2(fields: Fields) -> Model:
    """A bias on everything (`use_bias`); the window holds on all layers."""
    bias = fields.flag("use_bias", default=True)
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    return uniform(
        fields,
        attention,
        plain(attention.hidden, width(fields), bias=bias),
        layer_windows=windows(fields, layer_count(fields)),
        layer_norms=pre_norms(attention.hidden, bias=True),
        norm_bias=True,
        tied=True,
    )


def _persimmon(fields: Fields) -> Model:
    attention = grouped_attention(fields, input_bias=True, output_bias=True)
    on_heads: tuple[Weight, ...] = ()
    if fields.flag("qk_layernorm"):
        on_heads = weights.norms(attention.head_dim, "self_attn.q_layernorm", "self_attn.k_layernorm", bias=True)
    return uniform(
        fields,
        attention,
        plain(attention.hidden, width(fields), bias=True),
        layer_norms=(*pre_norms(attention.hidden, bias=True), *on_heads),
        norm_bias=True,
        tied=False,
    )
