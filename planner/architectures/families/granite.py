"""Granite: Llama-like (3), with experts (3 MoE), and with Mamba-2 layers and a shared feed-forward (4)."""

from __future__ import annotations

from typing import Any

from planner.architectures.attention import Attention
from planner.architectures.decoder import experts, grouped_attention, layer_types, pre_norms, uniform, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.recurrent import Mamba2, state_bytes
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import FeedForward, Mixer, Model

MODEL_TYPES = ("granite", "granitemoe", "granitemoeshared", "granitemoehybrid")
DEFAULTS: dict[str, dict[str, Any]] = {
    "granitemoehybrid": {"mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2},
}


def read(fields: Fields) -> Model:
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias)
    if fields.text("model_type") == "granite":
        fed = gated(attention.hidden, width(fields), bias=fields.flag("mlp_bias"))
        return uniform(fields, attention, fed, tied=False)
    if fields.text("model_type") != "granitemoehybrid":
        return uniform(fields, attention, _feed_forward(fields), tied=False)
    return _hybrid(fields, attention)


def _feed_forward(fields: Fields) -> FeedForward:
    """Experts as wide as `intermediate_size` and a shared part; only the shared part where there are no experts."""
    shared = fields.count("shared_intermediate_size")
    if not fields.count("num_local_experts"):
        return gated(hidden_size(fields), shared or width(fields), prefix="shared_mlp")
    return experts(
        fields, width=width(fields), shared_width=shared, prefix="block_sparse_moe", router="router.layer",
        shared="shared_mlp",
    ).feed_forward()  # fmt: skip


def _hybrid(fields: Fields, attention: Attention) -> Model:
    layers, norms, fed = layer_count(fields), pre_norms(attention.hidden), _feed_forward(fields)
    types = layer_types(fields, layers) or ["mamba"] * layers

    def build(kind: str) -> Layer:
        return Layer((mamba2(fields) if kind == "mamba" else attention.mixer(),), (fed,), norms)

    kinds = ["mamba" if item in ("mamba", "linear_attention") else "" for item in types]
    return assemble(fields, group(kinds, build), tied=False)


def mamba2(fields: Fields) -> Mixer:
    """Mamba-2 from fields that start with `mamba_`; heads of inner / heads where `mamba_d_head` is `auto`."""
    hidden = hidden_size(fields)
    inner = int(fields.number("mamba_expand", default=2) * hidden)
    heads = fields.need("mamba_n_heads")
    declared = fields.raw("mamba_d_head")
    return Mamba2(
        hidden=hidden,
        heads=heads,
        head_dim=declared if isinstance(declared, int) and declared > 0 else max(1, inner // heads),
        state=fields.need("mamba_d_state"),
        groups=fields.need("mamba_n_groups"),
        kernel=fields.need("mamba_d_conv"),
        bias=fields.flag("mamba_proj_bias"),
        conv_bias=fields.flag("mamba_conv_bias", default=True),
        prefix="mamba",
        bytes=state_bytes(fields),
    ).mixer()
