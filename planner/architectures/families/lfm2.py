"""LFM2: short gated convolutions with attention in a few layers; experts in the larger ones."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import experts, grouped_attention, layer_types, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.recurrent import convolution
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import FeedForward, Mixer, Model, RecurrentState

MODEL_TYPES = ("lfm2", "lfm2_moe")
DEFAULTS: dict[str, dict[str, Any]] = {
    "lfm2": {"conv_L_cache": 3, "vocab_size": 65536},
    "lfm2_moe": {"conv_L_cache": 3, "vocab_size": 65536},
}


def read(fields: Fields) -> Model:
    """Attention by `layer_types` or `full_attn_idxs`."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    types = layer_types(fields, layers)
    listed = {item for item in fields.sequence("full_attn_idxs") or [] if isinstance(item, int)}
    attends = [item == "full_attention" for item in types] if types else [index in listed for index in range(layers)]
    dense = fields.count("num_dense_layers")
    routed = [fields.text("model_type") == "lfm2_moe" and index >= dense for index in range(layers)]
    attention = grouped_attention(fields, query_key_norm="head").mixer()
    norms = weights.norms(hidden, "operator_norm", "ffn_norm")

    def build(kind: tuple[bool, bool]) -> Layer:
        mixer = attention if kind[0] else _convolution(fields, hidden)
        return Layer((mixer,), (_feed_forward(fields, kind[1]),), norms)

    return assemble(fields, group(list(zip(attends, routed, strict=True)), build), tied=True)


def _convolution(fields: Fields, hidden: int) -> Mixer:
    """Input and two gates (3 h h), a depth-wise convolution, an output: 4 h h + h k; k - 1 steps are kept."""
    kernel, bias = fields.need("conv_L_cache"), fields.flag("conv_bias")
    return Mixer(
        kind="short-convolution",
        weights=(
            *weights.column("conv.in_proj", 3 * hidden, hidden, bias=bias),
            *convolution("conv.conv", hidden, kernel, bias=bias),
            *weights.row("conv.out_proj", hidden, hidden, bias=bias),
        ),
        state=RecurrentState(hidden * (kernel - 1), 0, shards=hidden),
        heads=0,
    )


def _feed_forward(fields: Fields, routed: bool) -> FeedForward:
    """With `block_auto_adjust_ff_dim` the width is 2/3 of what is written, times a factor, rounded up."""
    if routed:
        bias = fields.flag("use_expert_bias", default=True)
        return experts(fields, shared_width=0, router_bias=bias, names=("w1", "w3", "w2")).feed_forward()
    inner = fields.optional("block_ff_dim") or width(fields)
    if fields.text("model_type") == "lfm2" and fields.flag("block_auto_adjust_ff_dim", default=True):
        multiple = fields.optional("block_multiple_of") or 256
        inner = int(fields.number("block_ffn_dim_multiplier", default=1.0) * (2 * inner // 3))
        inner = -(-inner // multiple) * multiple
    return gated(hidden_size(fields), inner)
