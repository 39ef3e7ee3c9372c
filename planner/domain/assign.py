"""Giving weights formats: by layer where the choice differs, layers with equal formats grouped again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planner.domain.model import FeedForward, LayerGroup, Mixer, Model, Weight

Choose = Callable[[int | None, Weight], str | None]
"""`choose(layer, weight)`: the format of a weight of that layer (None: of none), or None for the model's dtype."""


def formats(model: Model, choose: Choose, *, by_layer: bool = True) -> Model:
    """The model with every weight in the format chosen for it.

    by_layer: False where the choice never looks at the layer's number (it then gets the group's first).
    Prediction layers are chosen for too, numbered after the stack.
    """
    return replace(
        model,
        groups=_groups(model.groups, choose, by_layer),
        prediction_layers=_groups(model.prediction_layers, choose, by_layer),
        prediction_extra=_weights(model.prediction_extra, [choose(None, item) for item in model.prediction_extra]),
        embedding=_weights(model.embedding, [choose(None, item) for item in model.embedding]),
        head=None if model.head is None else replace(model.head, format=choose(None, model.head)),
        norms=_weights(model.norms, [choose(None, item) for item in model.norms]),
        towers=_weights(model.towers, [choose(None, item) for item in model.towers]),
    )


def _weights(weights: tuple[Weight, ...], chosen: list[str | None]) -> tuple[Weight, ...]:
    return tuple(
        weight if weight.format == name else replace(weight, format=name)
        for weight, name in zip(weights, chosen, strict=True)
    )


def _groups(groups: tuple[LayerGroup, ...], choose: Choose, by_layer: bool) -> tuple[LayerGroup, ...]:
    found: list[LayerGroup] = []
    for group in groups:
        weights = tuple(group.weights())
        members: dict[tuple[str | None, ...], list[int]] = {}
        for layer in group.layers if by_layer else group.layers[:1]:
            members.setdefault(tuple(choose(layer, weight) for weight in weights), []).append(layer)
        for chosen, layers in members.items():
            found.append(_group(group, tuple(layers) if by_layer else group.layers, chosen))
    return tuple(found)


def _group(group: LayerGroup, layers: tuple[int, ...], chosen: tuple[str | None, ...]) -> LayerGroup:
    """The group for some of its layers, with formats in the order of `LayerGroup.weights`."""
    left = list(chosen)

    def take(weights: tuple[Weight, ...]) -> tuple[Weight, ...]:
        taken = left[: len(weights)]
        del left[: len(weights)]
        return _weights(weights, taken)

    mixers: tuple[Mixer, ...] = tuple(replace(item, weights=take(item.weights)) for item in group.mixers)
    feed_forwards: tuple[FeedForward, ...] = tuple(
        replace(item, weights=take(item.weights)) for item in group.feed_forwards
    )
    return LayerGroup(layers, mixers, feed_forwards, take(group.norms))
