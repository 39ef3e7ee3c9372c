"""gpt-oss: alternating windows of 128, a learned sink for each head, experts with biases."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import HEAD_NAMES, experts, grouped_attention, uniform, width, windows
from planner.architectures.fields import Fields
from planner.architectures.stack import layer_count
from planner.domain.model import Model

MODEL_TYPES = ("gpt_oss", "openai_privacy_filter")
DEFAULTS: dict[str, dict[str, Any]] = {"gpt_oss": {"attention_bias": True, "vocab_size": 201088, "sliding_window": 128}}


def read(fields: Fields) -> Model:
    bias, heads = fields.flag("attention_bias", default=True), fields.need(*HEAD_NAMES)
    sinks = (weights.vector("self_attn.sinks", heads, "column"),)
    attention = grouped_attention(fields, input_bias=bias, output_bias=bias, extra=sinks)
    per_token = fields.optional("experts_per_token", "num_experts_per_tok")
    mixture = experts(
        fields, width=width(fields), shared_width=0, per_token=per_token, bias=True, router_bias=True, router="router"
    )
    spans = windows(fields, layer_count(fields), every=2)
    return uniform(fields, attention, mixture.feed_forward(), layer_windows=spans, tied=False)
