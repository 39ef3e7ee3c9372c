"""Kimi Linear and Kimi K3: delta attention, every fourth layer latent attention; experts (on a latent in K3)."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import experts, layer_types, pre_norms, sparse_layers, width
from planner.architectures.families.deepseek import latent_attention
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.recurrent import KimiDeltaAttention
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Mixer, Model

MODEL_TYPES = ("kimi_linear",)
DEFAULTS: dict[str, dict[str, Any]] = {}


def read(fields: Fields) -> Model:
    """`linear_attn_config` numbers layers from 1; the layers that it does not name attend to latents."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    linear = fields.below("linear_attn_config")
    delta = {item - 1 for item in linear.sequence("kda_layers") or [] if isinstance(item, int)}
    types = layer_types(fields, layers)
    if types and not delta:
        delta = {index for index, item in enumerate(types) if item == "linear_attention"}
    mixture = None
    if fields.has("num_experts", "n_routed_experts"):
        latent = fields.optional("routed_expert_hidden_size")
        with_norm = fields.flag("latent_moe_use_norm")
        mixture = experts(fields, router_bias=True, latent=latent, latent_norm=latent is not None and with_norm)
    sparse = sparse_layers(fields, layers) if mixture else [False] * layers

    def build(kind: tuple[bool, bool]) -> Layer:
        mixer = _delta(fields, linear, hidden) if kind[0] else latent_attention(
            fields, output_gate=fields.flag("mla_use_output_gate")
        ).mixer()  # fmt: skip
        fed = mixture.feed_forward() if kind[1] and mixture else gated(hidden, width(fields))
        return Layer((mixer,), (fed,), pre_norms(hidden))

    kinds = [(index in delta, sparse[index]) for index in range(layers)]
    return assemble(fields, group(kinds, build), tied=False)


def _delta(fields: Fields, linear: Fields, hidden: int) -> Mixer:
    return KimiDeltaAttention(
        hidden=hidden,
        heads=linear.optional("num_heads") or fields.need("linear_num_heads", "num_attention_heads"),
        head_dim=linear.optional("head_dim") or fields.need("linear_head_dim"),
        kernel=linear.optional("short_conv_kernel_size") or fields.need("linear_conv_kernel_dim"),
        full_gate=linear.flag("use_full_rank_gate"),
    ).mixer()
