"""RWKV 5 to 7: a matrix state for each head, token shifts of one step, no cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import FeedForward, Mixer, Model, RecurrentState, Weight

MODEL_TYPES = ("rwkv5", "rwkv6", "rwkv7")
DEFAULTS: dict[str, dict[str, Any]] = {
    "rwkv5": {"head_size": 64, "vocab_size": 65536},
    "rwkv6": {"head_size": 64, "vocab_size": 65536},
    "rwkv7": {"head_dim": 64, "vocab_size": 65536},
}


def read(fields: Fields) -> Model:
    """The head is never tied, whatever the file says. The first layer has one norm more."""
    kind, hidden, inner = fields.text("model_type"), hidden_size(fields), _width(fields)
    norms = weights.norms(hidden, "ln1", "ln2", bias=True)

    def build(first: bool) -> Layer:
        fed = FeedForward("dense", _channel_mix(kind, hidden, inner), inner)
        before = weights.norms(hidden, "pre_ln", bias=True) if first else ()
        return Layer((_mixer(fields, kind, hidden, first),), (fed,), (*before, *norms))

    model = assemble(fields, group([not i for i in range(layer_count(fields))], build), tied=False, norm_bias=True)
    if model.head is not None:
        return model
    return replace(model, head=weights.head(model.vocabulary, hidden))


def _width(fields: Fields) -> int:
    """`intermediate_size`, else 3.5 times the width (RWKV-7: 4 times), whole multiples of 32."""
    declared = fields.optional("intermediate_size")
    if declared:
        return declared
    ratio = 4.0 if fields.text("model_type") == "rwkv7" else 3.5
    return int(fields.number("hidden_ratio", default=ratio) * hidden_size(fields)) // 32 * 32


def _mixer(fields: Fields, kind: str, hidden: int, first: bool) -> Mixer:
    size = fields.need("head_dim" if kind == "rwkv7" else "head_size")
    fields.divides("head_size", hidden, size)
    found = _seventh(fields, hidden, first) if kind == "rwkv7" else _fifth(kind, hidden, fields)
    return Mixer(
        kind="rwkv",
        weights=found,
        state=RecurrentState(2 * hidden, hidden * size, shards=max(1, hidden // size)),
        heads=max(1, hidden // size),
        key_dim=size,
        value_dim=size,
    )


def _square(hidden: int, names: str) -> tuple[Weight, ...]:
    columns = [item for name in names.split() for item in weights.column(f"attention.{name}", hidden, hidden)]
    return (*columns, *weights.row("attention.output", hidden, hidden))


def _fifth(kind: str, hidden: int, fields: Fields) -> tuple[Weight, ...]:
    """Five products; mixes of 4 channels (5) or 6 with two low-rank pairs (6), decay, bonus, group norm."""
    found = _square(hidden, "key value receptance gate")
    if kind == "rwkv5":
        return (*found, weights.vector("attention.mix_decay_norm", (4 + 2 + 2) * hidden))
    large = hidden >= 4096
    mix, decay = (64, 128) if large else (32, 64)
    return (
        *found,
        weights.vector("attention.mix_decay_norm", (6 + 2 + 2) * hidden),
        *weights.whole("attention.time_maa_w1", 5 * mix, hidden),
        *weights.whole("attention.time_maa_w2", hidden, 5 * mix),
        *weights.whole("attention.time_decay_w1", decay, hidden),
        *weights.whole("attention.time_decay_w2", hidden, decay),
    )


def _seventh(fields: Fields, hidden: int, first: bool) -> tuple[Weight, ...]:
    """Four products; low-rank decay, rate, value mix (not in the first layer) and gate."""
    ranks = [("w", "decay_low_rank_dim", 64), ("a", "a_low_rank_dim", 64), ("g", "gate_low_rank_dim", 128)]
    if not first:
        ranks.append(("v", "v_low_rank_dim", 32))
    found = [*_square(hidden, "r_proj k_proj v_proj")]
    for name, field, default in ranks:
        rank = fields.optional(field) or default
        found += weights.whole(f"attention.{name}_lora.0", rank, hidden)
        found += weights.whole(f"attention.{name}_lora.2", hidden, rank, bias=name != "g")
    return (*found, weights.vector("attention.mix_scales_norm", (6 + 3 + 2) * hidden))


def _channel_mix(kind: str, hidden: int, inner: int) -> tuple[Weight, ...]:
    """Key and value products; RWKV 5 and 6 gate them with a receptance."""
    found = (*weights.column("feed_forward.key", inner, hidden), *weights.row("feed_forward.value", hidden, inner))
    if kind == "rwkv7":
        return (*found, weights.vector("feed_forward.mix", hidden))
    gate = weights.whole("feed_forward.receptance", hidden, hidden)
    return (*found, *gate, weights.vector("feed_forward.mix", 2 * hidden))
