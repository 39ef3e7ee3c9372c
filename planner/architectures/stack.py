"""Putting layers together: what each layer is, which layers are equal, what stands around them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from planner.architectures import weights
from planner.architectures.fields import MOST_LAYERS, Fields
from planner.domain import formats
from planner.domain.model import FeedForward, LayerGroup, Mixer, Model, Weight


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer before it is grouped with its equals."""

    mixers: tuple[Mixer, ...] = ()
    feed_forwards: tuple[FeedForward, ...] = ()
    norms: tuple[Weight, ...] = ()


Kind = TypeVar("Kind", bound=Hashable)


def group(kinds: Iterable[Kind], build: Callable[[Kind], Layer]) -> tuple[LayerGroup, ...]:
    """Layer groups of a stack whose layer i is `build(kinds[i])`; each kind is built once, in order of first use."""
    members: dict[Kind, list[int]] = {}
    for index, kind in enumerate(kinds):
        members.setdefault(kind, []).append(index)
    merged: dict[Layer, list[int]] = {}
    for kind, layers in members.items():
        merged.setdefault(build(kind), []).extend(layers)
    return tuple(
        LayerGroup(tuple(sorted(layers)), layer.mixers, layer.feed_forwards, layer.norms)
        for layer, layers in merged.items()
    )


LAYER_NAMES = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HIDDEN_NAMES = ("hidden_size", "n_embd", "n_embed", "d_model", "hidden_dim", "model_dim")
VOCABULARY_NAMES = ("vocab_size", "padded_vocab_size")
_CONTEXT_NAMES = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length",
    "max_target_positions", "max_sequence_length", "max_seq_length", "seq_len",
)  # fmt: skip


def layer_count(fields: Fields) -> int:
    return fields.need(*LAYER_NAMES, largest=MOST_LAYERS)


def hidden_size(fields: Fields) -> int:
    return fields.need(*HIDDEN_NAMES, largest=1 << 20)


def vocabulary_size(fields: Fields) -> int:
    return fields.need(*VOCABULARY_NAMES, largest=1 << 26)


def max_context(fields: Fields) -> int | None:
    """The smallest of the lengths that the config names; `model_max_length` is taken before the others."""
    declared = fields.values.get("model_max_length")
    if isinstance(declared, int) and not isinstance(declared, bool) and 0 < declared < 1 << 31:
        return declared
    found = [fields.values.get(name) for name in _CONTEXT_NAMES]
    lengths = [item for item in found if isinstance(item, int) and not isinstance(item, bool) and item > 0]
    return min(lengths, default=None)


def dtype(fields: Fields) -> str:
    """The dtype of the weights, as one of our format names; bf16 where the config names none."""
    for values in (fields.values, fields.root):
        for name in ("dtype", "torch_dtype"):
            found = values.get(name)
            known = formats.get(found) if isinstance(found, str) else None
            if known is not None and known.name in ("fp32", "bf16", "fp16"):
                return known.name
    return "bf16"


def assemble(
    fields: Fields,
    groups: tuple[LayerGroup, ...],
    *,
    tied: bool,
    final_norm: bool | None = True,
    norm_bias: bool = False,
    head_bias: bool = False,
    embedding: tuple[Weight, ...] = (),
    norms: tuple[Weight, ...] = (),
    prediction_layers: tuple[LayerGroup, ...] = (),
    prediction_extra: tuple[Weight, ...] = (),
    vocabulary: int | None = None,
) -> Model:
    """The model around its layers: embedding, head unless tied, final norm.

    tied: the family's default; the file's `tie_word_embeddings` (of the whole file first) is taken before it.
    embedding: further tables. norms: further weights outside the layers.
    """
    hidden = hidden_size(fields)
    vocabulary = vocabulary or vocabulary_size(fields)
    around = [*weights.norms(hidden, "model.norm", bias=norm_bias)] if final_norm else []
    if head_bias:
        around.append(weights.vector("lm_head.bias", vocabulary, "vocabulary"))
    return Model(
        name="",
        hidden=hidden,
        vocabulary=vocabulary,
        groups=groups,
        embedding=(weights.embedding(vocabulary, hidden), *embedding),
        head=None if is_tied(fields, default=tied) else weights.head(vocabulary, hidden),
        norms=(*around, *norms),
        prediction_layers=prediction_layers,
        prediction_extra=prediction_extra,
        dtype=dtype(fields),
        max_context=max_context(fields),
        family=fields.text("model_type"),
    )


def is_tied(fields: Fields, *, default: bool) -> bool:
    """Whether the head is the embedding: the whole file's word first, then the language model's, then the family's."""
    for values in (fields.root, fields.values):
        found = values.get("tie_word_embeddings")
        if isinstance(found, bool):
            return found
    return default
