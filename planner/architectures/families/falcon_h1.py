"""Falcon-H1: attention and Mamba-2 side by side in every layer."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import grouped_attention, pre_norms, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.recurrent import Mamba2, state_bytes
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Mixer, Model

MODEL_TYPES = ("falcon_h1",)
DEFAULTS: dict[str, dict[str, Any]] = {
    "falcon_h1": {
        "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_n_heads": 128,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    """The inner width is `mamba_d_ssm`; the gated norm exists only with `mamba_rms_norm`."""
    bias, hidden = fields.flag("attention_bias"), hidden_size(fields)
    mixers = (grouped_attention(fields, input_bias=bias, output_bias=bias).mixer(), _mamba(fields))
    fed = gated(hidden, width(fields), bias=fields.flag("mlp_bias"), prefix="feed_forward")
    layer = Layer(mixers, (fed,), pre_norms(hidden))
    return assemble(fields, group([0] * layer_count(fields), lambda _: layer), tied=False)


def _mamba(fields: Fields) -> Mixer:
    hidden, heads = hidden_size(fields), fields.need("mamba_n_heads")
    inner = fields.optional("mamba_d_ssm") or int(fields.number("mamba_expand", default=2) * hidden)
    fields.divides("mamba_n_heads", inner, heads)
    return Mamba2(
        hidden=hidden,
        heads=heads,
        head_dim=max(1, inner // heads),
        state=fields.need("mamba_d_state"),
        groups=fields.need("mamba_n_groups"),
        kernel=fields.need("mamba_d_conv"),
        bias=fields.flag("mamba_proj_bias"),
        conv_bias=fields.flag("mamba_conv_bias", default=True),
        norm=fields.flag("mamba_rms_norm"),
        prefix="mamba",
        bytes=state_bytes(fields),
    ).mixer()
