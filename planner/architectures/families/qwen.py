"""Qwen2, 2.5 and 3, dense and with experts: biases on queries, keys and values (2), norms on heads (3)."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import dense_or_experts, effective_window, experts, grouped_attention, uniform, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = (
    "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text",
    "qwen3_vl_text", "qwen3_vl_moe_text", "qwen2_5_omni_text", "qwen3_omni_moe_text",
)  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {}
NESTED_DEFAULTS: dict[str, dict[str, Any]] = {
    "qwen2": {
        "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    newer = fields.text("model_type").startswith("qwen3")
    bias = fields.flag("attention_bias", "qkv_bias", default=not newer)
    attention = grouped_attention(
        fields, input_bias=bias, output_bias=newer and bias, query_key_norm="head" if newer else ""
    )
    spans = _windows(fields)
    if not fields.has("num_experts", "num_local_experts"):
        return uniform(fields, attention, gated(attention.hidden, width(fields)), layer_windows=spans, tied=False)
    shared = fields.count("shared_expert_intermediate_size")
    mixture = experts(fields, shared_width=shared, shared_gate=shared > 0, shared="shared_expert")
    choose = dense_or_experts(fields, mixture)
    return uniform(fields, attention, choose, layer_windows=spans, sparse=sparse_layers(fields), tied=False)


def sparse_layers(fields: Fields) -> list[bool]:
    """Layer i holds experts unless it is in `mlp_only_layers` or (i + 1) % `decoder_sparse_step` is not 0."""
    step = fields.optional("decoder_sparse_step") or 1
    dense = {item for item in fields.sequence("mlp_only_layers") or [] if isinstance(item, int)}
    return [index not in dense and (index + 1) % step == 0 for index in range(layer_count(fields))]


def _windows(fields: Fields) -> list[int | None]:
    """`sliding_window` does nothing unless `use_sliding_window`; then layers from `max_window_layers` on slide."""
    layers = layer_count(fields)
    if not fields.flag("use_sliding_window"):
        return [None] * layers
    window = effective_window(fields, fields.optional("sliding_window"))
    first = fields.count("max_window_layers", default=layers)
    return [window if index >= first else None for index in range(layers)]
