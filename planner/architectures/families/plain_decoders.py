"""Decoders that are Llama with one thing changed: Seed-OSS, Arcee, Apertus, SmolLM3, dots.llm1, Helium, Bamba's kin."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import (
    dense_or_experts,
    experts,
    grouped_attention,
    sparse_layers,
    uniform,
    width,
    windows,
)
from planner.architectures.feed_forward import gated, plain
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import FeedForward, Model

MODEL_TYPES = ("seed_oss", "arcee", "apertus", "smollm3", "dots1", "helium", "cwm", "Yi", "solar", "iquestcoder")
DEFAULTS: dict[str, dict[str, Any]] = {
    "seed_oss": {"attention_bias": True, "attention_out_bias": False},
    "smollm3": {"vocab_size": 128256},
}
_TIED = ("smollm3",)


def read(fields: Fields) -> Model:
    """Biases by the flags of each; norms on heads in Apertus and dots; two plain products in Arcee and Apertus."""
    kind = fields.text("model_type")
    bias = fields.flag("attention_bias")
    attention = grouped_attention(
        fields,
        input_bias=bias,
        output_bias=fields.flag("attention_out_bias", default=bias),
        query_key_norm="head" if kind in ("apertus", "dots1") else "",
    )
    layers = layer_count(fields)
    spans = windows(fields, layers) if fields.has("layer_types") else [None] * layers
    if kind == "dots1":
        choose = dense_or_experts(fields, experts(fields, router_bias=True))
        return uniform(fields, attention, choose, layer_windows=spans, sparse=sparse_layers(fields, layers), tied=False)
    fed = _feed_forward(fields, kind, attention.hidden)
    return uniform(fields, attention, fed, layer_windows=spans, tied=kind in _TIED)


def _feed_forward(fields: Fields, kind: str, hidden: int) -> FeedForward:
    bias = fields.flag("mlp_bias")
    if kind == "arcee":
        return plain(hidden, width(fields), bias=bias)
    if kind != "apertus":
        return gated(hidden, width(fields), bias=bias)
    activation = weights.vector("mlp.act_fn.alpha", 2)
    found = plain(hidden, width(fields), bias=bias)
    return FeedForward("dense", (*found.weights, activation), found.width)
