"""Multi-token-prediction layers: one more decoder layer, two norms, a product of twice the width, a norm."""

from __future__ import annotations

from planner.architectures import weights
from planner.architectures.stack import Layer
from planner.domain.model import LayerGroup, Weight


def layers(layer: Layer, first: int, count: int) -> tuple[LayerGroup, ...]:
    """`count` equal prediction layers that follow the stack's `first` layers."""
    if count <= 0:
        return ()
    members = tuple(range(first, first + min(count, 64)))
    return (LayerGroup(members, layer.mixers, layer.feed_forwards, layer.norms),)


def extra(hidden: int, count: int, vocabulary: int = 0, *, tables: bool = False) -> tuple[Weight, ...]:
    """2 h h + 3 h a layer; with `tables`, its own embedding and head as well."""
    found: list[Weight] = []
    for _ in range(min(count, 64)):
        found += weights.whole("eh_proj", hidden, 2 * hidden)
        found += weights.norms(hidden, "enorm", "hnorm", "shared_head.norm")
        if tables:
            found += [
                weights.embedding(vocabulary, hidden, "mtp.embed_tokens"),
                weights.head(vocabulary, hidden, "shared_head.head"),
            ]
    return tuple(found)
