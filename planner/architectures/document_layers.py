"""Layer groups of a Model document, read."""

from __future__ import annotations

from typing import get_args

from planner.architectures import layer_ranges
from planner.architectures.document_section import Section
from planner.domain import formats
from planner.domain.model import CacheEntry, FeedForward, LayerGroup, Mixer, MixerKind, RecurrentState
from planner.quoting import quoted

_MIXERS: tuple[str, ...] = get_args(MixerKind)
_FED = ("dense", "experts", "none")
_CACHES = ("kv", "latent", "index", "cross")


def groups(section: Section, key: str) -> tuple[LayerGroup, ...]:
    """The groups under `key`. A position that two groups name is noted."""
    found = tuple(_group(item) for item in section.sections(key))
    seen: set[int] = set()
    for group in found:
        twice = seen.intersection(group.layers)
        if twice or len(set(group.layers)) != len(group.layers):
            layer = min(twice, default=group.layers[0])
            section.note(key, f"layer {layer} is in two groups", slug="layers")
        seen.update(group.layers)
    return found


def _group(section: Section) -> LayerGroup:
    written = section.take("layers")
    layers = layer_ranges.read(written)
    if layers is None:
        section.note(
            "layers", f"positions such as 0-31 or 5-59/6 are expected, {quoted(written)} was read", slug="layers"
        )
    group = LayerGroup(
        layers or (0,),
        tuple(_mixer(item) for item in section.sections("mixers")),
        tuple(_feed_forward(item) for item in section.sections("feed_forwards")),
        section.weights("norms"),
    )
    section.finish()
    return group


def _mixer(section: Section) -> Mixer:
    state = section.take("state")
    mixer = Mixer(
        kind=section.choice("kind", _MIXERS),
        weights=section.weights(),
        cache=tuple(_cache(item) for item in section.sections("cache")),
        state=None if state is None else _state(Section(state, section.place("state"), section.problems)),
        heads=section.whole("heads", 0),
        kv_heads=section.whole("kv_heads", 0),
        key_dim=section.whole("key_dim", 0),
        value_dim=section.whole("value_dim", 0),
        decode_key_dim=section.optional("decode_key_dim"),
        decode_value_dim=section.optional("decode_value_dim"),
        window=section.optional("window"),
        sparse_tokens=section.optional("sparse_tokens"),
        index_heads=section.whole("index_heads", 0),
        index_dim=section.whole("index_dim", 0),
        query_key_norm=section.flag("query_key_norm"),
    )
    section.finish()
    return mixer


def _cache(section: Section) -> CacheEntry:
    entry = CacheEntry(
        elements=section.whole("elements"),
        shards=section.whole("shards", 1, smallest=1),
        window=section.optional("window"),
        stride=section.whole("stride", 1, smallest=1),
        role=section.choice("role", _CACHES, "kv"),
        format=cache_format(section, "format"),
    )
    section.finish()
    return entry


def cache_format(section: Section, key: str) -> str | None:
    """A cache precision by one of its names."""
    name = section.text(key)
    if name is not None and formats.get_cache(name) is None:
        section.note(
            key, f"{quoted(name)} is no cache precision", hint=f"It is one of {', '.join(formats.cache_spellings())}."
        )
        return None
    return name


def _state(section: Section) -> RecurrentState:
    state = RecurrentState(
        section.whole("convolution_elements", 0),
        section.whole("state_elements", 0),
        section.whole("shards", 1, smallest=1),
        section.number("convolution_bytes", 2.0),
        section.number("state_bytes", 4.0),
        section.whole("convolution_columns", 3, smallest=1),
    )
    section.finish()
    return state


def _feed_forward(section: Section) -> FeedForward:
    fed = FeedForward(
        section.choice("kind", _FED),
        section.weights(),
        section.whole("width", 0),
        section.whole("experts", 0),
        section.whole("experts_per_token", 0),
        section.whole("shared_width", 0),
    )
    section.finish()
    return fed
