"""Hunyuan: norms on heads, lists with one value a layer, keys and values shared between layers (Large)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures.decoder import (
    EXPERT_NAMES,
    EXPERT_WIDTH_NAMES,
    PER_TOKEN_NAMES,
    experts,
    grouped_attention,
    pre_norms,
    width,
)
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("hunyuan", "hunyuan_v1_moe", "hunyuan_v1_dense", "hunyuan_moe", "hunyuan_dense")
DEFAULTS: dict[str, dict[str, Any]] = {
    "hunyuan_v1_moe": {"use_qk_norm": True},
    "hunyuan_v1_dense": {"use_qk_norm": True},
}
_Kind = tuple[int, int, int, int, bool]


def read(fields: Fields) -> Model:
    """With `use_cla`, only one layer of every `cla_share_factor` owns keys and values."""
    layers, bias = layer_count(fields), fields.flag("attention_bias")
    norm: Any = "head" if fields.flag("use_qk_norm") else ""
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias, query_key_norm=norm)
    hidden = attention.hidden

    def build(kind: _Kind) -> Layer:
        count, per_token, inner, shared, owns = kind
        mixer = replace(attention, cached=owns).mixer()
        if count <= 1:
            return Layer((mixer,), (gated(hidden, width(fields), bias=fields.flag("mlp_bias")),), pre_norms(hidden))
        mixture = experts(
            fields, experts=count, per_token=per_token, width=inner, shared_width=shared, router="gate.wg",
            shared="shared_mlp",
        )  # fmt: skip
        return Layer((mixer,), (mixture.feed_forward(),), pre_norms(hidden))

    return assemble(fields, group(_kinds(fields, layers), build), tied=True)


def _kinds(fields: Fields, layers: int) -> list[_Kind]:
    """(experts, experts a token, expert width, shared width, whether it owns keys and values) of each layer."""
    count = fields.per_layer(layers, *EXPERT_NAMES, default=1)
    per_token = fields.per_layer(layers, *PER_TOKEN_NAMES, default=1)
    inner = fields.per_layer(layers, *EXPERT_WIDTH_NAMES, "intermediate_size")
    shared = fields.per_layer(layers, "num_shared_expert", default=0, smallest=0)
    mixed = fields.flag("use_mixed_mlp_moe", default=fields.text("model_type") == "hunyuan_v1_moe")
    skipped = fields.count("moe_layer_num_skipped")
    share = (fields.optional("cla_share_factor") or 1) if fields.flag("use_cla") else 1
    base = width(fields, 1)
    return [
        (
            count[index] if index >= skipped else 1,
            per_token[index],
            inner[index],
            (shared[index] or 1) * base if mixed else 0,
            index % share == 0,
        )
        for index in range(layers)
    ]
