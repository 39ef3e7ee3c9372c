"""Decoders whose attention output is gated by a product of its own: AFMoE (Trinity), Laguna."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import (
    dense_or_experts,
    experts,
    grouped_attention,
    pre_norms,
    sparse_layers,
    uniform,
    windows,
)
from planner.architectures.families.gemma import four_norms
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("afmoe", "laguna")
DEFAULTS: dict[str, dict[str, Any]] = {"afmoe": {"head_dim": 128, "num_dense_layers": 1}}


def read(fields: Fields) -> Model:
    """AFMoE gates each value and norms around the sub-layers; Laguna gates each head."""
    layers, whole = layer_count(fields), fields.text("model_type") == "afmoe"
    plain = grouped_attention(fields, query_key_norm="head")
    size = plain.heads * (plain.head_dim if whole else 1)
    gate = weights.column("self_attn.gate_proj", size, plain.hidden)
    attention = grouped_attention(fields, query_key_norm="head", extra=gate)
    shared = fields.count("shared_expert_intermediate_size")
    mixture = experts(fields, router_bias=True, **({"shared_width": shared} if shared else {}))
    every = fields.optional("global_attn_every_n_layers") if whole else None
    return uniform(
        fields,
        attention,
        dense_or_experts(fields, mixture),
        layer_windows=windows(fields, layers, every=every),
        sparse=sparse_layers(fields, layers),
        layer_norms=four_norms(plain.hidden) if whole else pre_norms(plain.hidden),
        tied=False,
    )
