"""DeepSeek V2, V3, R1, V3.2 and those built like them (Kimi K2, GLM-5): latent attention, shared experts, MTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import prediction
from planner.architectures.attention import LatentAttention
from planner.architectures.decoder import (
    HEAD_NAMES,
    MOST_HEADS,
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
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count, vocabulary_size
from planner.domain.model import Model

MODEL_TYPES = ("deepseek", "deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "glm_moe_dsa", "glm4_moe_lite")
DEFAULTS: dict[str, dict[str, Any]] = {}

_OWN_TABLES = ("deepseek_v3", "deepseek_v32", "kimi_k2")
"""Checkpoints of these hold a second embedding and head for the prediction layer."""


def latent_attention(fields: Fields, **changes: Any) -> LatentAttention:
    """Latent attention from the usual fields; `num_key_value_heads` and `head_dim` say nothing about its cache."""
    return LatentAttention(
        hidden=hidden_size(fields),
        heads=fields.need(*HEAD_NAMES, largest=MOST_HEADS),
        query_rank=fields.optional("q_lora_rank"),
        latent_rank=fields.need("kv_lora_rank"),
        nope_dim=fields.need("qk_nope_head_dim"),
        rope_dim=fields.need("qk_rope_head_dim"),
        value_dim=changes.pop("value_dim", None) or fields.need("v_head_dim"),
        input_bias=fields.flag("attention_bias"),
        **changes,
    )


def read(fields: Fields) -> Model:
    layers, hidden = layer_count(fields), hidden_size(fields)
    if not fields.has("kv_lora_rank"):
        return _first_generation(fields)
    mixture = None
    if fields.has("n_routed_experts", "num_experts", "num_local_experts"):
        mixture = experts(fields, router_bias=_selects_with_bias(fields))
    sparse = sparse_layers(fields, layers) if mixture else [False] * layers
    attention, indexed = _attention(fields, layers)

    def build(kind: tuple[bool, bool]) -> Layer:
        has_experts, owns_index = kind
        mixer = (attention if owns_index else _without_index(attention)).mixer()
        fed = mixture.feed_forward() if has_experts and mixture else gated(hidden, width(fields))
        return Layer((mixer,), (fed,), pre_norms(hidden))

    predicted = fields.count("num_nextn_predict_layers")
    tables = fields.text("model_type") in _OWN_TABLES
    return assemble(
        fields,
        group(zip(sparse, indexed, strict=True), build),
        tied=False,
        prediction_layers=prediction.layers(build((mixture is not None, True)), layers, predicted),
        prediction_extra=prediction.extra(hidden, predicted, vocabulary_size(fields), tables=tables),
    )


def _selects_with_bias(fields: Fields) -> bool:
    """V3's routing adds a correction for each expert (`noaux_tc`); V2's does not."""
    default = "" if fields.text("model_type") == "deepseek_v2" else "noaux_tc"
    return fields.text("topk_method", default=default) == "noaux_tc"


def _attention(fields: Fields, layers: int) -> tuple[LatentAttention, list[bool]]:
    """The attention, and which layers own an indexer (`indexer_types` "full"; all where it is not listed)."""
    if not fields.has("index_topk"):
        return latent_attention(fields), [True] * layers
    attention = latent_attention(
        fields,
        index_heads=fields.need("index_n_heads", largest=MOST_HEADS),
        index_dim=fields.need("index_head_dim"),
        index_tokens=fields.need("index_topk"),
    )
    types = fields.sequence("indexer_types")
    owners = [item != "shared" for item in types[:layers]] if types else [True] * layers
    return attention, owners + [True] * (layers - len(owners))


def _without_index(attention: LatentAttention) -> LatentAttention:
    return replace(attention, indexed=False)


def _first_generation(fields: Fields) -> Model:
    """DeepSeek-MoE 16B: plain attention, the first layer dense."""
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    if not fields.has("n_routed_experts"):
        return uniform(fields, attention, gated(attention.hidden, width(fields)), tied=False)
    choose = dense_or_experts(fields, experts(fields))
    return uniform(fields, attention, choose, sparse=sparse_layers(fields, layer_count(fields)), tied=False)
