"""A Model as plain data for a Model document. What has its usual value is left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from planner.architectures import layer_ranges
from planner.architectures.document_weights import line_of
from planner.domain.model import CacheEntry, FeedForward, LayerGroup, Mixer, Model, RecurrentState, Weight

_ALWAYS = {"kind", "elements", "hidden", "vocabulary", "dtype"}


def model(found: Model) -> dict[str, Any]:
    """What stands under `model`: name and family are metadata."""
    plain = _unusual(found, skip=("name", "family"))
    lists = {
        "embedding": _lines(found.embedding),
        "norms": _lines(found.norms),
        "towers": _lines(found.towers),
        "groups": [_group(group) for group in found.groups],
        "prediction_layers": [_group(group) for group in found.prediction_layers],
        "prediction_extra": _lines(found.prediction_extra),
        "notes": list(found.notes),
    }
    plain |= {key: value for key, value in lists.items() if value}
    if found.head is not None:
        plain["head"] = line_of(found.head)
    order = (
        "hidden", "vocabulary", "max_context", "dtype", "cache_format", "quantization", "nominal", "exact",
        "multimodal", "tower_heads", "notes", "embedding", "head", "norms", "groups", "towers", "prediction_layers",
        "prediction_extra",
    )  # fmt: skip
    return {key: plain[key] for key in order if key in plain}


def _unusual(item: Any, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """The scalar fields that differ from their defaults, and those that are always said."""
    found = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if field.name in skip or isinstance(value, tuple) or not isinstance(value, (str, int, float)):
            continue
        if field.name in _ALWAYS or value != field.default:
            found[field.name] = value
    return found


def _lines(weights: Iterable[Weight]) -> list[str]:
    return [line_of(weight) for weight in weights]


def _group(group: LayerGroup) -> dict[str, Any]:
    found: dict[str, Any] = {"layers": layer_ranges.written(group.layers)}
    parts = {
        "mixers": [_mixer(mixer) for mixer in group.mixers],
        "feed_forwards": [_feed_forward(fed) for fed in group.feed_forwards],
        "norms": _lines(group.norms),
    }
    return found | {key: value for key, value in parts.items() if value}


def _mixer(mixer: Mixer) -> dict[str, Any]:
    found = _unusual(mixer)
    if mixer.cache:
        found["cache"] = [_entry(entry) for entry in mixer.cache]
    if mixer.state is not None:
        found["state"] = _entry(mixer.state)
    return found | ({"weights": _lines(mixer.weights)} if mixer.weights else {})


def _entry(entry: CacheEntry | RecurrentState) -> dict[str, Any]:
    return _unusual(entry)


def _feed_forward(fed: FeedForward) -> dict[str, Any]:
    return _unusual(fed) | ({"weights": _lines(fed.weights)} if fed.weights else {})
