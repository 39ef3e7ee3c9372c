"""Jamba: attention in one layer of eight, Mamba in the others; experts in every second layer."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import dense_or_experts, experts, grouped_attention, pre_norms, width
from planner.architectures.fields import Fields
from planner.architectures.recurrent import Mamba1, state_bytes
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Model

MODEL_TYPES = ("jamba",)
DEFAULTS: dict[str, dict[str, Any]] = {
    "jamba": {
        "attn_layer_offset": 4, "attn_layer_period": 8, "expert_layer_offset": 1, "expert_layer_period": 2,
        "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "num_experts": 16, "num_experts_per_tok": 2,
        "vocab_size": 65536,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    """Layer i attends where i % `attn_layer_period` is `attn_layer_offset`; experts by the other pair."""
    hidden = hidden_size(fields)
    attention = grouped_attention(fields).mixer()
    rank = fields.raw("mamba_dt_rank")
    mamba = Mamba1(
        hidden=hidden,
        inner=int(fields.number("mamba_expand", default=2) * hidden),
        state=fields.need("mamba_d_state"),
        kernel=fields.need("mamba_d_conv"),
        rank=rank if isinstance(rank, int) and rank > 0 else -(-hidden // 16),
        bias=fields.flag("mamba_proj_bias"),
        conv_bias=fields.flag("mamba_conv_bias", default=True),
        norms=True,
        prefix="mamba",
        bytes=state_bytes(fields),
    ).mixer()
    inner = width(fields)
    mixture = experts(fields, width=inner, shared_width=0, prefix="feed_forward", router="router")
    choose = dense_or_experts(fields, mixture, inner)

    def build(kind: tuple[bool, bool]) -> Layer:
        attends, sparse = kind
        return Layer((attention if attends else mamba,), (choose(sparse and mixture.experts > 1),), pre_norms(hidden))

    return assemble(fields, group(list(_kinds(fields)), build), tied=False)


def _kinds(fields: Fields) -> list[tuple[bool, bool]]:
    attention = fields.need("attn_layer_period"), fields.count("attn_layer_offset")
    sparse = fields.need("expert_layer_period"), fields.count("expert_layer_offset")
    return [
        (index % attention[0] == attention[1], index % sparse[0] == sparse[1]) for index in range(layer_count(fields))
    ]
