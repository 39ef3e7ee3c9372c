"""MiniCPM 1 to 4: Llama-like with tied embeddings; experts in one; latent attention in MiniCPM3."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import HEAD_NAMES, experts, grouped_attention, pre_norms, uniform, width
from planner.architectures.families.deepseek import latent_attention
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("minicpm", "minicpm3")
DEFAULTS: dict[str, dict[str, Any]] = {
    "minicpm3": {"kv_lora_rank": 256, "q_lora_rank": 768, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32},
}


def read(fields: Fields) -> Model:
    """MiniCPM3 names no `v_head_dim`: it is hidden / heads."""
    if fields.text("model_type") == "minicpm3":
        hidden = hidden_size(fields)
        value_dim = fields.optional("v_head_dim") or max(1, hidden // fields.need(*HEAD_NAMES))
        mixer = latent_attention(fields, value_dim=value_dim).mixer()
        layer = Layer((mixer,), (gated(hidden, width(fields)),), pre_norms(hidden))
        return assemble(fields, group([0] * layer_count(fields), lambda _: layer), tied=True)
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    if fields.count("num_experts"):
        mixture = experts(fields, width=width(fields), shared_width=0, names=("w1", "w3", "w2"))
        return uniform(fields, attention, mixture.feed_forward(), tied=True)
    return uniform(fields, attention, gated(attention.hidden, width(fields)), tied=True)
