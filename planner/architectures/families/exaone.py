"""EXAONE 3 and 4: Llama-like (3); sliding layers, norms on heads and after the sub-layers (4)."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import (
    dense_or_experts,
    effective_window,
    experts,
    grouped_attention,
    layer_types,
    pre_norms,
    sparse_layers,
    uniform,
    width,
)
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("exaone", "exaone4", "exaone_moe", "exaone4_5_text")
DEFAULTS: dict[str, dict[str, Any]] = {"exaone": {"vocab_size": 102400}}


def read(fields: Fields) -> Model:
    kind = fields.text("model_type")
    newer = kind != "exaone"
    attention = grouped_attention(fields, query_key_norm="head" if newer else "")
    hidden, layers = attention.hidden, layer_count(fields)
    norms = pre_norms(hidden)
    if kind.startswith("exaone4"):
        norms = weights.norms(hidden, "post_attention_layernorm", "post_feedforward_layernorm")
    spans = _windows(fields, layers) if newer else [None] * layers
    if not fields.has("num_experts", "n_routed_experts"):
        fed = gated(hidden, width(fields))
        return uniform(fields, attention, fed, layer_windows=spans, layer_norms=norms, tied=False)
    mixture = experts(fields, router_bias=True)
    return uniform(
        fields, attention, dense_or_experts(fields, mixture), layer_windows=spans, layer_norms=norms,
        sparse=sparse_layers(fields, layers), tied=False,
    )  # fmt: skip


def _windows(fields: Fields, layers: int) -> list[int | None]:
    """By `layer_types`, else by `sliding_window_pattern`: a number, or letters (LLLG) repeated, the last layer full."""
    window = effective_window(fields, fields.optional("sliding_window"))
    types = layer_types(fields, layers)
    if types:
        return [window if "sliding" in item else None for item in types]
    pattern = fields.raw("sliding_window_pattern")
    if isinstance(pattern, str) and pattern and len(pattern) <= layers:
        letters = [pattern[index % len(pattern)] for index in range(layers)]
        letters[-1] = "G"
        return [window if letter == "L" else None for letter in letters]
    every = pattern if isinstance(pattern, int) and pattern > 0 else 4
    return [window if (index + 1) % every else None for index in range(layers)]
