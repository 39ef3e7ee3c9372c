"""Rewriting the attention of some layers of a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from planner.domain.model import LayerGroup, Mixer, Model


def positions(model: Model, kinds: Collection[str]) -> tuple[int, ...]:
    """Positions of the layers that have a mixer of one of `kinds`, ascending."""
    return tuple(
        sorted(
            layer
            for group in model.groups
            if any(mixer.kind in kinds for mixer in group.mixers)
            for layer in group.layers
        )
    )


def rewrite(model: Model, chosen: Collection[int], kinds: Collection[str], change: Callable[[Mixer], Mixer]) -> Model:
    """The model with `change` made to the mixers of `kinds` in the layers `chosen`; groups split where needed."""
    layers = frozenset(chosen)
    groups = [part for group in model.groups for part in _parts(group, layers, kinds, change)]
    return replace(model, groups=tuple(sorted(groups, key=lambda group: group.layers[:1])))


def _parts(
    group: LayerGroup, chosen: Collection[int], kinds: Collection[str], change: Callable[[Mixer], Mixer]
) -> Iterator[LayerGroup]:
    inside = tuple(layer for layer in group.layers if layer in chosen)
    outside = tuple(layer for layer in group.layers if layer not in chosen)
    if outside:
        yield replace(group, layers=outside)
    if inside:
        mixers = tuple(change(mixer) if mixer.kind in kinds else mixer for mixer in group.mixers)
        yield replace(group, layers=inside, mixers=mixers)
