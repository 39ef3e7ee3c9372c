"""GLM-4, ChatGLM and GLM-4.5: biases on queries, keys and values; norms around sub-layers (GLM-4-0414)."""

from __future__ import annotations

from typing import Any

from planner.architectures import prediction, weights
from planner.architectures.attention import Attention
from planner.architectures.decoder import (
    dense_or_experts,
    experts,
    grouped_attention,
    pre_norms,
    sparse_layers,
    uniform,
    width,
)
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, hidden_size, layer_count, vocabulary_size
from planner.domain.model import Model, Weight

MODEL_TYPES = (
    "chatglm", "glm", "glm4", "glm4v_text", "glm4_moe", "glm4v_moe", "glm4v_moe_text", "glm_ocr_text", "solar_open",
)  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {
    "chatglm": {"tie_word_embeddings": False},
    "glm": {"attention_bias": True},
    "glm4v_text": {"attention_bias": True},
    "glm4v_moe_text": {"attention_bias": True, "tie_word_embeddings": False},
}
_FOUR_NORMS = ("glm4", "glm4v_text", "glm_ocr_text")


def read(fields: Fields) -> Model:
    kind = fields.text("model_type")
    attention = _attention(fields)
    if kind in ("glm4_moe", "glm4v_moe_text", "solar_open", "glm4v_moe"):
        return _mixture(fields, attention)
    linear_bias = fields.flag("add_bias_linear", "mlp_bias")
    fed = gated(attention.hidden, width(fields), bias=linear_bias)
    return uniform(fields, attention, fed, layer_norms=_norms(attention.hidden, kind), tied=False)


def _attention(fields: Fields) -> Attention:
    """ChatGLM names its KV heads `multi_query_group_num`, in force only with `multi_query_attention`."""
    chatglm = fields.text("model_type") == "chatglm"
    kv_heads = fields.optional("multi_query_group_num") if fields.flag("multi_query_attention") else None
    linear_bias = fields.flag("add_bias_linear")
    return grouped_attention(
        fields,
        kv_heads=kv_heads if chatglm else None,
        input_bias=linear_bias or fields.flag("add_qkv_bias", "attention_bias"),
        output_bias=linear_bias,
        query_key_norm="head" if fields.flag("use_qk_norm") else "",
    )


def _norms(hidden: int, kind: str) -> tuple[Weight, ...]:
    after = weights.norms(hidden, "post_self_attn_layernorm", "post_mlp_layernorm") if kind in _FOUR_NORMS else ()
    return (*pre_norms(hidden), *after)


def _mixture(fields: Fields, attention: Attention) -> Model:
    """GLM-4.5 and later: a selection bias for each expert, one prediction layer with its own tables."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    choose = dense_or_experts(fields, experts(fields, router_bias=True))
    predicted = fields.count("num_nextn_predict_layers")
    layer = Layer((attention.mixer(),), (choose(True),), pre_norms(hidden))
    return uniform(
        fields,
        attention,
        choose,
        sparse=sparse_layers(fields, layers),
        tied=False,
        prediction_layers=prediction.layers(layer, layers, predicted),
        prediction_extra=prediction.extra(hidden, predicted, vocabulary_size(fields), tables=True),
    )
