"""Llama 4: chunked attention but for every fourth layer, one expert a token beside a shared one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures.decoder import effective_window, experts, grouped_attention, pre_norms, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("llama4_text", "llama4")
DEFAULTS: dict[str, dict[str, Any]] = {
    "llama4_text": {
        "vocab_size": 202048, "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "num_experts_per_tok": 1, "num_local_experts": 16, "interleave_moe_layer_step": 1,
        "attention_chunk_size": 8192, "max_position_embeddings": 131072,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    layers, inner = layer_count(fields), width(fields)
    mixture = experts(
        fields, width=inner, shared_width=inner, shared="shared_expert", prefix="feed_forward", router="router"
    )
    dense = gated(attention.hidden, fields.optional("intermediate_size_mlp") or inner, prefix="feed_forward")

    def build(kind: tuple[int | None, bool]) -> Layer:
        window, sparse = kind
        mixer = replace(attention, window=window, chunked=True).mixer()
        return Layer((mixer,), (mixture.feed_forward() if sparse else dense,), pre_norms(attention.hidden))

    kinds = zip(_windows(fields, layers), _sparse(fields, layers), strict=True)
    return assemble(fields, group(list(kinds), build), tied=False)


def _windows(fields: Fields, layers: int) -> list[int | None]:
    """Full where `no_rope_layers` is 0, else in every fourth layer; chunked elsewhere."""
    chunk = effective_window(fields, fields.optional("attention_chunk_size"))
    listed = fields.sequence("no_rope_layers")
    if listed and len(listed) >= layers:
        return [chunk if item else None for item in listed[:layers]]
    every = fields.optional("no_rope_layer_interval") or 4
    return [chunk if (index + 1) % every else None for index in range(layers)]


def _sparse(fields: Fields, layers: int) -> list[bool]:
    listed = fields.sequence("moe_layers")
    if listed:
        return [index in listed for index in range(layers)]
    step = fields.optional("interleave_moe_layer_step") or 1
    return [(index + 1) % step == 0 for index in range(layers)]
