"""Mamba, Falcon-Mamba and Mamba-2: no attention, no feed-forward, one norm a layer."""

from __future__ import annotations

from typing import Any

from planner.architectures import weights
from planner.architectures.fields import Fields
from planner.architectures.recurrent import Mamba1, Mamba2, state_bytes
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count, vocabulary_size
from planner.domain.model import Mixer, Model

MODEL_TYPES = ("mamba", "mamba2", "mamba2_original", "falcon_mamba")
DEFAULTS: dict[str, dict[str, Any]] = {
    "mamba": {"state_size": 16, "conv_kernel": 4, "expand": 2, "vocab_size": 50280},
    "falcon_mamba": {"state_size": 16, "conv_kernel": 4, "expand": 16, "vocab_size": 65024},
    "mamba2": {"state_size": 128, "conv_kernel": 4, "expand": 2, "n_groups": 8, "head_dim": 64, "num_heads": 128},
    "mamba2_original": {"state_size": 128, "conv_kernel": 4, "expand": 2, "n_groups": 1, "head_dim": 64},
}


def read(fields: Fields) -> Model:
    """The inner width is `intermediate_size` where it is given: Falcon-Mamba's `expand` says something else."""
    mixer = _second(fields) if fields.text("model_type").startswith("mamba2") else _first(fields)
    norms = weights.norms(hidden_size(fields), "norm")
    groups = group([0] * layer_count(fields), lambda _: Layer((mixer,), (), norms))
    return assemble(fields, groups, tied=fields.text("model_type") != "mamba2", vocabulary=_padded(fields))


def _padded(fields: Fields) -> int:
    """The original files round the vocabulary up to `pad_vocab_size_multiple`; converted ones already have."""
    rows, multiple = vocabulary_size(fields), fields.optional("pad_vocab_size_multiple")
    original = fields.has("d_model") and not fields.has("hidden_size")
    return -(-rows // multiple) * multiple if multiple and original else rows


def _inner(fields: Fields) -> int:
    declared = fields.optional("intermediate_size", "d_inner")
    return declared or int(fields.number("expand", default=2) * hidden_size(fields))


def _first(fields: Fields) -> Mixer:
    hidden = hidden_size(fields)
    rank = fields.raw("time_step_rank")
    return Mamba1(
        hidden=hidden,
        inner=_inner(fields),
        state=fields.need("state_size"),
        kernel=fields.need("conv_kernel"),
        rank=fields.need("time_step_rank") if isinstance(rank, int) else -(-hidden // 16),
        bias=fields.flag("use_bias"),
        conv_bias=fields.flag("use_conv_bias", default=True),
        bytes=state_bytes(fields),
    ).mixer()


def _second(fields: Fields) -> Mixer:
    return Mamba2(
        hidden=hidden_size(fields),
        heads=fields.optional("num_heads") or max(1, _inner(fields) // fields.need("head_dim")),
        head_dim=fields.need("head_dim"),
        state=fields.need("state_size"),
        groups=fields.need("n_groups"),
        kernel=fields.need("conv_kernel"),
        bias=fields.flag("use_bias"),
        conv_bias=fields.flag("use_conv_bias", default=True),
        bytes=state_bytes(fields),
    ).mixer()
