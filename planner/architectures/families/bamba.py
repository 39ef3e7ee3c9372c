"""Bamba and Zamba2: Mamba-2 layers with attention in a few; Zamba2's attention blocks are shared between layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.attention import Attention
from planner.architectures.decoder import HEAD_NAMES, grouped_attention, layer_types, pre_norms, width
from planner.architectures.families.granite import mamba2
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.recurrent import Mamba2, state_bytes
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import FeedForward, Mixer, Model

MODEL_TYPES = ("bamba", "zamba2")
DEFAULTS: dict[str, dict[str, Any]] = {
    "bamba": {
        "mamba_n_heads": 128, "mamba_d_head": "auto", "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4,
        "mamba_expand": 2, "vocab_size": 128000,
    },
    "zamba2": {
        "mamba_d_state": 64, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_ngroups": 1, "n_mamba_heads": 8,
        "num_mem_blocks": 1, "adapter_rank": 128, "vocab_size": 32000,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    if fields.text("model_type") == "zamba2":
        return _zamba2(fields)
    hidden, layers = hidden_size(fields), layer_count(fields)
    bias = fields.flag("attention_bias")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias).mixer()
    listed = {item for item in fields.sequence("attn_layer_indices") or [] if isinstance(item, int)}
    types = layer_types(fields, layers)
    attends = [index in listed for index in range(layers)]
    if types:
        attends = ["attention" in item and "linear" not in item for item in types]
    fed = gated(hidden, width(fields), bias=fields.flag("mlp_bias"), prefix="feed_forward")

    def build(with_attention: bool) -> Layer:
        return Layer((attention if with_attention else mamba2(fields),), (fed,), pre_norms(hidden))

    return assemble(fields, group(attends, build), tied=False)


def _zamba2(fields: Fields) -> Model:
    """Hybrid layers run a shared block before their Mamba-2; its weights are counted where they first occur."""
    hidden, layers = hidden_size(fields), layer_count(fields)
    types = fields.sequence("layers_block_type", "layer_types") or []
    names = ("hybrid", "full_attention", "hybrid_attention")
    hybrid = [index for index, item in enumerate(types[:layers]) if item in names]
    owners = set(hybrid[: fields.need("num_mem_blocks")])
    mamba = _zamba2_mamba(fields, hidden)

    def build(kind: tuple[bool, bool]) -> Layer:
        shared, owns = kind
        norm = weights.norms(hidden, "input_layernorm")
        if not shared:
            return Layer((mamba,), (), norm)
        attention, fed = _shared_block(fields, hidden, owns)
        return Layer((attention, mamba), (fed,), (*norm, *weights.whole("linear", hidden, hidden)))

    kinds = [(index in set(hybrid), index in owners) for index in range(layers)]
    return assemble(fields, group(kinds, build), tied=True)


def _zamba2_mamba(fields: Fields, hidden: int) -> Mixer:
    inner, heads = int(fields.number("mamba_expand", default=2) * hidden), fields.need("n_mamba_heads")
    fields.divides("n_mamba_heads", inner, heads)
    return Mamba2(
        hidden=hidden,
        heads=heads,
        head_dim=max(1, inner // heads),
        state=fields.need("mamba_d_state"),
        groups=fields.need("mamba_ngroups"),
        kernel=fields.need("mamba_d_conv"),
        bias=fields.flag("add_bias_linear"),
        conv_bias=fields.flag("use_conv_bias", default=True),
        prefix="mamba",
        bytes=state_bytes(fields),
    ).mixer()


def _shared_block(fields: Fields, hidden: int, owns: bool) -> tuple[Mixer, FeedForward]:
    """Attention over input and embedding side by side (twice the width), a gated feed-forward with adapters."""
    heads = fields.need(*HEAD_NAMES)
    inner, rank = width(fields, 4 * hidden), fields.need("adapter_rank")
    kv_heads = fields.optional("num_key_value_heads") or heads
    mixer = Attention(2 * hidden, heads, kv_heads, 2 * hidden // heads).mixer()
    down, up = weights.whole("feed_forward.adapter.0", rank, hidden), weights.column(
        "feed_forward.adapter.1", 2 * inner, rank
    )  # fmt: skip
    fed = gated(hidden, inner, prefix="feed_forward")
    adapters = _attention_adapters(fields, hidden, rank)
    if not owns:
        return replace(mixer, weights=adapters), FeedForward("dense", (*down, *up), inner)
    output = weights.row("self_attn.o_proj", hidden, heads * (2 * hidden // heads))
    own = (*mixer.weights[:-1], *output, weights.vector("shared.norms", 3 * hidden))
    return replace(mixer, weights=(*own, *adapters)), FeedForward("dense", (*fed.weights, *down, *up), inner)


def _attention_adapters(fields: Fields, hidden: int, rank: int) -> tuple[Any, ...]:
    if not fields.flag("use_shared_attention_adapter"):
        return ()
    found: list[Any] = []
    for name in ("q", "k", "v"):
        found += weights.whole(f"self_attn.linear_{name}_adapter.0", rank, 2 * hidden)
        found += weights.column(f"self_attn.linear_{name}_adapter.1", 2 * hidden, rank)
    return tuple(found)
