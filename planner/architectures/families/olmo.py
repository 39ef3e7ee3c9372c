"""OLMo 1 to 3 and OLMoE: norms without weights (1), after the sub-layers (2, 3), on queries and keys whole."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import experts, grouped_attention, pre_norms, uniform, width, windows
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("olmo", "hf_olmo", "olmo2", "olmo3", "olmoe", "flex_olmo")
DEFAULTS: dict[str, dict[str, Any]] = {
    "olmo": {"vocab_size": 50304},
    "olmo3": {"sliding_window": 4096},
    "olmoe": {"num_experts": 64, "num_experts_per_tok": 8},
}


def read(fields: Fields) -> Model:
    """OLMoE's and FlexOLMo's experts are as wide as `intermediate_size`."""
    kind, bias = fields.text("model_type"), fields.flag("attention_bias")
    first = kind in ("olmo", "hf_olmo")
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias, query_key_norm="" if first else "full")
    hidden, layers = attention.hidden, layer_count(fields)
    if kind in ("olmoe", "flex_olmo"):
        fed = experts(fields, width=width(fields), shared_width=0).feed_forward()
    else:
        fed = gated(hidden, width(fields))
    spans = windows(fields, layers, every=4) if kind == "olmo3" else [None] * layers
    after = weights.norms(hidden, "post_attention_layernorm", "post_feedforward_layernorm")
    norms = () if first else pre_norms(hidden) if kind == "olmoe" else after
    return uniform(fields, attention, fed, layer_windows=spans, layer_norms=norms, final_norm=not first, tied=False)
