"""The drafter of a method whose own figures are not declared."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.model import FeedForward, LayerGroup, Model, Weight


def one_layer_drafter(target: Model) -> Model:
    """A drafter like one layer of the target: its first layer, the experts that a token passes through, its head.

    EAGLE drafters are one decoder layer of the target's width that shares the target's embedding
    (arXiv 2401.15077, 2503.01840); trained ones differ in their head and feed-forward.
    """
    first = target.groups[0]
    layer = replace(
        first,
        layers=(0,),
        feed_forwards=tuple(_active(feed_forward) for feed_forward in first.feed_forwards),
    )
    head = target.head if target.head is not None else next(iter(target.embedding), None)
    return replace(
        target,
        name=f"one layer of {target.name}",
        groups=(_without_router(layer),),
        embedding=(),
        head=replace(head, role="head") if head is not None else None,
        towers=(),
        prediction_layers=(),
        prediction_extra=(),
        exact=False,
    )


def _active(feed_forward: FeedForward) -> FeedForward:
    weights = tuple(_one_pass(weight) for weight in feed_forward.weights)
    width = feed_forward.width * max(1, feed_forward.experts_per_token)
    return replace(feed_forward, kind="dense", weights=weights, width=width, experts=0, experts_per_token=0)


def _one_pass(weight: Weight) -> Weight:
    copies = weight.copies if weight.active_copies is None else weight.active_copies
    role = "linear" if weight.role == "expert" else weight.role
    return replace(weight, copies=copies, active_copies=None, role=role)


def _without_router(group: LayerGroup) -> LayerGroup:
    feed_forwards = tuple(
        replace(item, weights=tuple(weight for weight in item.weights if weight.role != "router"))
        for item in group.feed_forwards
    )
    return replace(group, feed_forwards=feed_forwards)
