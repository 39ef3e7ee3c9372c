"""Gemma 3n: per-layer embeddings, alternating updates, low-rank residuals; the last layers reuse keys and values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import WIDTH_NAMES, grouped_attention, windows
from planner.architectures.families.gemma import four_norms
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import Model, Weight

MODEL_TYPES = ("gemma3n_text", "gemma3n")
DEFAULTS: dict[str, dict[str, Any]] = {
    "gemma3n_text": {
        "vocab_size": 262400, "head_dim": 256, "sliding_window": 512, "vocab_size_per_layer_input": 262144,
        "hidden_size_per_layer_input": 256, "altup_num_inputs": 4, "laurel_rank": 64, "num_kv_shared_layers": 15,
        "max_position_embeddings": 32768,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    layers, hidden = layer_count(fields), hidden_size(fields)
    attention = grouped_attention(fields, query_key_norm="head")
    widths = fields.per_layer(layers, *WIDTH_NAMES)
    spans = windows(fields, layers, every=5)
    owners = layers - fields.count("num_kv_shared_layers")
    norms = (*four_norms(hidden), *_additions(fields, hidden))

    def build(kind: tuple[int, int | None, bool]) -> Layer:
        inner, window, cached = kind
        mixer = replace(attention, window=window, cached=cached).mixer()
        return Layer((mixer,), (gated(hidden, inner),), norms)

    kinds = [(widths[index], spans[index], index < owners) for index in range(layers)]
    inputs = fields.optional("altup_num_inputs") or 4
    outside = [*per_layer_projection(fields, layers, hidden)]
    for index in range(inputs - 1):
        outside += weights.whole(f"altup_projections.{index}", hidden, hidden)
        outside += weights.whole(f"altup_unembed_projections.{index}", hidden, hidden)
    return assemble(
        fields, group(kinds, build), tied=True, embedding=per_layer_table(fields, layers), norms=tuple(outside)
    )


def per_layer_table(fields: Fields, layers: int) -> tuple[Weight, ...]:
    """One more embedding for each layer, in one table that can sit on the host."""
    size = fields.count("hidden_size_per_layer_input")
    if not size:
        return ()
    rows = fields.need("vocab_size_per_layer_input")
    return (weights.embedding(rows, layers * size, "model.embed_tokens_per_layer"),)


def per_layer_projection(fields: Fields, layers: int, hidden: int) -> tuple[Weight, ...]:
    size = fields.count("hidden_size_per_layer_input")
    if not size:
        return ()
    product = weights.whole("model.per_layer_model_projection", layers * size, hidden)
    return (*product, weights.vector("model.per_layer_projection_norm", size))


def per_layer_input(fields: Fields, hidden: int) -> tuple[Weight, ...]:
    """What a layer does with its own embedding: gate, projection, norm."""
    size = fields.count("hidden_size_per_layer_input")
    if not size:
        return ()
    return (
        *weights.whole("per_layer_input_gate", size, hidden),
        *weights.whole("per_layer_projection", hidden, size),
        weights.vector("post_per_layer_input_norm", hidden),
    )


def _additions(fields: Fields, hidden: int) -> tuple[Weight, ...]:
    inputs, rank = fields.optional("altup_num_inputs") or 4, fields.optional("laurel_rank") or 64
    return (
        weights.vector("altup.coefficients", inputs**2 + inputs**3),
        *weights.norms(hidden, "altup.correct_output_scale", "altup.router_norm"),
        *weights.whole("altup.modality_router", inputs, hidden),
        *weights.whole("laurel.linear_left", rank, hidden),
        *weights.whole("laurel.linear_right", hidden, rank),
        weights.vector("laurel.post_laurel_norm", hidden),
        *per_layer_input(fields, hidden),
    )
