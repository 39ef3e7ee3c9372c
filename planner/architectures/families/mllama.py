"""Llama 3.2 Vision: some layers attend to image tokens only, whose keys and values the text never adds to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, pre_norms, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, layer_count, vocabulary_size
from planner.domain.model import CacheEntry, Model

MODEL_TYPES = ("mllama_text_model", "mllama")
DEFAULTS: dict[str, dict[str, Any]] = {
    "mllama_text_model": {"vocab_size": 128256, "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]},
}


def read(fields: Fields) -> Model:
    """The embedding has eight rows more than the head; cross layers add head norms and two gates."""
    attention = grouped_attention(fields)
    crossing = {item for item in fields.sequence("cross_attention_layers") or [] if isinstance(item, int)}
    fed, norms = gated(attention.hidden, width(fields)), pre_norms(attention.hidden)
    gates = (weights.vector("cross_attn_attn_gate", 1), weights.vector("cross_attn_mlp_gate", 1))

    def build(crosses: bool) -> Layer:
        if not crosses:
            return Layer((attention.mixer(),), (fed,), norms)
        mixer = replace(attention, query_key_norm="head", prefix="cross_attn").mixer()
        entry = CacheEntry(mixer.cache[0].elements, attention.kv_heads, role="cross")
        return Layer((replace(mixer, kind="cross-attention", cache=(entry,)),), (fed,), (*norms, *gates))

    model = assemble(fields, group([index in crossing for index in range(layer_count(fields))], build), tied=False)
    rows = replace(model.embedding[0], outputs=vocabulary_size(fields) + 8)
    return replace(model, embedding=(rows,))
