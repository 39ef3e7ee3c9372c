"""DBRX: sizes in nested maps, sixteen gated experts in every layer, layer norms without biases."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import experts, grouped_attention, uniform
from planner.architectures.fields import Fields
from planner.domain.model import Model

MODEL_TYPES = ("dbrx",)
DEFAULTS: dict[str, dict[str, Any]] = {"dbrx": {"vocab_size": 100352, "max_seq_len": 32768}}


def read(fields: Fields) -> Model:
    nested = fields.below("ffn_config")
    mixture = experts(
        fields,
        experts=nested.need("moe_num_experts"),
        per_token=nested.need("moe_top_k"),
        width=nested.need("ffn_hidden_size"),
        shared_width=0,
        prefix="ffn",
        router="router.layer",
        names=("w1", "v1", "w2"),
    )
    attention = grouped_attention(fields, kv_heads=fields.below("attn_config").optional("kv_n_heads"))
    return uniform(fields, attention, mixture.feed_forward(), tied=False)
