"""Mistral and Mixtral: Llama with a sliding window where the file sets one; experts as wide as `intermediate_size`."""

from __future__ import annotations

from typing import Any

from planner.architectures.decoder import experts, grouped_attention, uniform, width, windows
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("mistral", "mixtral", "ministral", "ministral3")
DEFAULTS: dict[str, dict[str, Any]] = {}
NESTED_DEFAULTS: dict[str, dict[str, Any]] = {
    "mistral": {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8,
    },
}  # fmt: skip


def read(fields: Fields) -> Model:
    attention = grouped_attention(fields)
    if fields.has("num_local_experts"):
        names = ("w1", "w3", "w2")
        mixture = experts(fields, width=width(fields), shared_width=0, prefix="block_sparse_moe", names=names)
        fed = mixture.feed_forward()
    else:
        fed = gated(attention.hidden, width(fields))
    return uniform(fields, attention, fed, layer_windows=windows(fields, layer_count(fields)), tied=False)
