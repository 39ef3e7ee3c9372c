"""Ling and Ring (Bailing): experts with a selection bias, norms on heads, one fused product for q, k, v."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import (
    EXPERT_WIDTH_NAMES,
    dense_or_experts,
    experts,
    grouped_attention,
    sparse_layers,
    uniform,
)
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("bailing_moe", "bailing_moe_v2", "bailing_shared")
DEFAULTS: dict[str, dict[str, Any]] = {}


def read(fields: Fields) -> Model:
    """Shared experts are `moe_shared_expert_intermediate_size` wide each, else as wide as the others."""
    every = fields.flag("use_bias")
    attention = grouped_attention(
        fields,
        input_bias=every or fields.flag("use_qkv_bias"),
        output_bias=every,
        query_key_norm="head" if fields.flag("use_qk_norm") else "",
    )
    each = fields.optional("moe_shared_expert_intermediate_size") or fields.need(*EXPERT_WIDTH_NAMES)
    mixture = experts(
        fields,
        shared_width=fields.count("num_shared_experts") * each,
        router_bias=fields.flag("moe_router_enable_expert_bias"),
    )
    sparse = sparse_layers(fields, layer_count(fields))
    return uniform(fields, attention, dense_or_experts(fields, mixture), sparse=sparse, tied=False)
