"""Gemma 1 to 3: tied embeddings, head dims of their own; four norms a layer (2, 3), sliding layers, head norms (3)."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import grouped_attention, pre_norms, uniform, width, windows
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model, Weight

MODEL_TYPES = ("gemma", "gemma2", "gemma3_text", "gemma3", "vaultgemma")
_GEMMA3: dict[str, Any] = {
    "vocab_size": 262208, "head_dim": 256, "max_position_embeddings": 131072, "sliding_window": 4096,
    "sliding_window_pattern": 6, "num_attention_heads": 8, "num_key_value_heads": 4, "hidden_size": 2304,
    "intermediate_size": 9216, "num_hidden_layers": 26,
}  # fmt: skip
DEFAULTS: dict[str, dict[str, Any]] = {
    "gemma": {"vocab_size": 256000, "head_dim": 256, "max_position_embeddings": 8192},
    "gemma2": {
        "vocab_size": 256000, "head_dim": 256, "max_position_embeddings": 8192, "sliding_window": 4096,
        "num_attention_heads": 8, "num_key_value_heads": 4,
    },
    "gemma3_text": _GEMMA3,
    "gemma3": _GEMMA3,
    "vaultgemma": {"vocab_size": 256000, "head_dim": 256, "sliding_window": 512},
}  # fmt: skip


def read(fields: Fields) -> Model:
    """Gemma 2 slides on even layers, Gemma 3 on all but every sixth."""
    kind, layers = fields.text("model_type"), layer_count(fields)
    bias = fields.flag("attention_bias")
    attention = grouped_attention(
        fields, input_bias=bias, output_bias=bias, query_key_norm="head" if kind.startswith("gemma3") else ""
    )
    pattern = fields.optional("sliding_window_pattern", "_sliding_window_pattern")
    every = {"gemma2": 2, "vaultgemma": 1}.get(kind) or pattern
    spans = [None] * layers if kind == "gemma" else windows(fields, layers, every=every)
    fed = gated(attention.hidden, width(fields))
    return uniform(fields, attention, fed, layer_windows=spans, layer_norms=_norms(attention.hidden, kind), tied=True)


def _norms(hidden: int, kind: str) -> tuple[Weight, ...]:
    if kind in ("gemma", "vaultgemma"):
        return pre_norms(hidden)
    return four_norms(hidden)


def four_norms(hidden: int) -> tuple[Weight, ...]:
    """Before and after the mixer, before and after the feed-forward."""
    names = ("pre_feedforward_layernorm", "post_feedforward_layernorm")
    return (*pre_norms(hidden), *weights.norms(hidden, *names))
