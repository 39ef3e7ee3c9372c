"""Nemotron-H and Nemotron 3: each layer is a mixer or a feed-forward, never both, behind one norm."""

from __future__ import annotations

from typing import Any

from planner.architectures import prediction, weights
from planner.architectures.decoder import experts, grouped_attention, width
from planner.architectures.feed_forward import plain
from planner.architectures.fields import MOST_LAYERS, Fields
from planner.architectures.recurrent import Mamba2, state_bytes
from planner.architectures.stack import Layer, assemble, group, hidden_size
from planner.domain.model import FeedForward, LayerGroup, Mixer, Model

MODEL_TYPES = ("nemotron_h", "nemotron_h_puzzle")
DEFAULTS: dict[str, dict[str, Any]] = {"nemotron_h": {"conv_kernel": 4, "ssm_state_size": 128, "n_groups": 8}}
_NAMES = {"linear_attention": "mamba", "full_attention": "attention"}
_LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


def read(fields: Fields) -> Model:
    """Layers by `hybrid_override_pattern` (M mamba, * attention, - feed-forward, E experts) or `layers_block_type`."""
    kinds = _kinds(fields, "hybrid_override_pattern", "layers_block_type")
    if not kinds:
        fields.need("hybrid_override_pattern")
    hidden = hidden_size(fields)
    norms = weights.norms(hidden, "norm")

    def build(kind: str) -> Layer:
        if kind in ("mamba", "attention"):
            return Layer((_mamba(fields) if kind == "mamba" else _attention(fields),), (), norms)
        return Layer((), (_mixture(fields) if kind == "moe" else _dense(fields),), norms)

    predicted = _kinds(fields, "mtp_hybrid_override_pattern", "mtp_layers_block_type")
    count = fields.count("num_nextn_predict_layers")
    return assemble(
        fields,
        group(kinds, build),
        tied=False,
        prediction_layers=_prediction(predicted, build, len(kinds)) if count else (),
        prediction_extra=prediction.extra(hidden, count),
    )


def _prediction(kinds: list[str], build: Any, first: int) -> tuple[LayerGroup, ...]:
    return tuple(
        LayerGroup(tuple(first + layer for layer in item.layers), item.mixers, item.feed_forwards, item.norms)
        for item in group(kinds, build)
    )


def _kinds(fields: Fields, pattern: str, listed: str) -> list[str]:
    text = fields.text(pattern)
    letters = [_LETTERS.get(letter, "") for letter in text[:MOST_LAYERS] if letter != "|"]
    if "" in letters:
        fields.problem(pattern, "only the letters M, *, - and E are known")
    names = [str(item) for item in fields.sequence(listed, "layer_types") or []]
    return letters or [_NAMES.get(item, item) for item in names]


def _attention(fields: Fields) -> Mixer:
    bias = fields.flag("attention_bias")
    return grouped_attention(fields, input_bias=bias, output_bias=bias, prefix="mixer").mixer()


def _mamba(fields: Fields) -> Mixer:
    return Mamba2(
        hidden=hidden_size(fields),
        heads=fields.need("mamba_num_heads"),
        head_dim=fields.need("mamba_head_dim"),
        state=fields.need("ssm_state_size"),
        groups=fields.need("n_groups"),
        kernel=fields.need("conv_kernel"),
        bias=fields.flag("mamba_proj_bias", "use_bias"),
        conv_bias=fields.flag("use_conv_bias", default=True),
        bytes=state_bytes(fields),
    ).mixer()


def _dense(fields: Fields) -> FeedForward:
    return plain(hidden_size(fields), width(fields), bias=fields.flag("mlp_bias"), prefix="mixer")


def _mixture(fields: Fields) -> FeedForward:
    shared = fields.count("n_shared_experts") * fields.count("moe_shared_expert_intermediate_size")
    return experts(
        fields,
        shared_width=shared,
        gated=False,
        latent=fields.optional("moe_latent_size"),
        prefix="mixer",
    ).feed_forward()
