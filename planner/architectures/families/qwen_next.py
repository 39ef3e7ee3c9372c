"""Qwen3-Next, Qwen3.5 and 3.6: gated delta nets, every fourth layer gated attention."""

from __future__ import annotations

from typing import Any

from planner.architectures import prediction
from planner.architectures.decoder import dense_or_experts, experts, grouped_attention, layer_types, pre_norms, width
from planner.architectures.families.qwen import sparse_layers
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.recurrent import GatedDeltaNet, state_bytes
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import FeedForward, Mixer, Model

MODEL_TYPES = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "qwen3_5", "qwen3_5_moe")
_LINEAR: dict[str, Any] = {
    "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_num_key_heads": 16,
    "linear_num_value_heads": 32, "full_attention_interval": 4, "head_dim": 256,
}  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = dict.fromkeys(MODEL_TYPES, _LINEAR)


def read(fields: Fields) -> Model:
    """Full attention by `layer_types`, else in every `full_attention_interval`-th layer; its output is gated."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    types = layer_types(fields, layers)
    every = fields.optional("full_attention_interval") or 4
    full = [item == "full_attention" for item in types] if types else [(i + 1) % every == 0 for i in range(layers)]
    has_experts = fields.has("num_experts", "num_local_experts")
    sparse = sparse_layers(fields) if has_experts else [False] * layers

    def build(kind: tuple[bool, bool]) -> Layer:
        attends, routed = kind
        mixer = _attention(fields) if attends else _delta_net(fields)
        return Layer((mixer,), (_feed_forward(fields, routed),), pre_norms(hidden))

    # Qwen3-Next checkpoints hold one that their config does not name. Source: vLLM, `qwen3_next_mtp.py`.
    unnamed = 1 if fields.text("model_type") == "qwen3_next" else 0
    predicted = fields.count("mtp_num_hidden_layers", "num_nextn_predict_layers", default=unnamed)
    return assemble(
        fields,
        group(list(zip(full, sparse, strict=True)), build),
        tied=False,
        prediction_layers=prediction.layers(build((True, has_experts)), layers, predicted),
        prediction_extra=prediction.extra(hidden, predicted),
    )


def _attention(fields: Fields) -> Mixer:
    bias = fields.flag("attention_bias")
    is_gated = fields.flag("attn_output_gate", default=True)
    return grouped_attention(fields, input_bias=bias, output_bias=bias, gated=is_gated, query_key_norm="head").mixer()


def _delta_net(fields: Fields) -> Mixer:
    return GatedDeltaNet(
        hidden=hidden_size(fields),
        key_heads=fields.need("linear_num_key_heads"),
        value_heads=fields.need("linear_num_value_heads"),
        key_dim=fields.need("linear_key_head_dim"),
        value_dim=fields.need("linear_value_head_dim"),
        kernel=fields.need("linear_conv_kernel_dim"),
        bytes=state_bytes(fields),
    ).mixer()


def _feed_forward(fields: Fields, routed: bool) -> FeedForward:
    if not routed:
        return gated(hidden_size(fields), width(fields))
    shared = fields.count("shared_expert_intermediate_size")
    mixture = experts(fields, shared_width=shared, shared_gate=shared > 0, shared="shared_expert")
    return dense_or_experts(fields, mixture)(True)
