"""The `architecture` of a Model document: a model by its figures, each checked before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.architectures.document_section import Section
from planner.architectures.fields import MOST_LAYERS
from planner.architectures.figures import read_figures
from planner.domain.model import Model
from planner.findings import Finding
from planner.quoting import quoted

_ATTENTION = ("heads", "kv_heads", "value_dim", "latent_dim", "rope_dim", "window", "window_layers", "layers")
_MOST_PARAMETERS = 10**15


def read(section: Section, name: str) -> tuple[Model | None, list[Finding]]:
    """The model, or what is wrong with its figures."""
    data: dict[str, Any] = {key: _count(section, key) for key in ("parameters", "active_parameters")}
    data["layers"] = section.whole("layers", smallest=1)
    if data["layers"] > MOST_LAYERS:
        section.note("layers", f"at most {MOST_LAYERS} layers are expected, {data['layers']} were read")
    if data["parameters"] is None:
        section.note("parameters", "the number of parameters is needed here", slug="missing-field")
    data |= {key: section.optional(key) for key in ("hidden", "feed_forward", "vocabulary", "max_context")}
    data["tied_embeddings"] = section.flag("tied_embeddings")
    data["attention"] = _attention(section)
    data["experts"] = _part(section, "experts", ("count", "per_token"), ("width", "layers"), ("shared",))
    data["recurrent"] = _part(section, "recurrent", ("layers", "state"), (), ("convolution",))
    section.finish()
    if section.problems:
        return None, section.problems
    return read_figures({key: value for key, value in data.items() if value is not None}, name=name)


def _count(section: Section, key: str) -> int | None:
    """Parameters, which may be written 7e9."""
    found = section.take(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 1 <= found <= _MOST_PARAMETERS:
        section.note(key, f"a number from 1 to {_MOST_PARAMETERS} is expected, {quoted(found)} was read")
        return 1
    return int(found)


def _below(section: Section, key: str) -> Section | None:
    found = section.take(key)
    return None if found is None else Section(found, section.place(key), section.problems)


def _attention(section: Section) -> Mapping[str, Any]:
    below = _below(section, "attention")
    if below is None:
        section.note("attention", "attention with kv_heads and head_dim is needed here", slug="missing-field")
        return {"head_dim": 1}
    found = {"kind": below.choice("kind", ("full", "latent"), "full"), "head_dim": below.whole("head_dim", smallest=1)}
    found |= {key: value for key in _ATTENTION if (value := below.optional(key)) is not None}
    below.finish()
    return found


def _part(
    section: Section, key: str, needed: tuple[str, ...], sizes: tuple[str, ...], counts: tuple[str, ...]
) -> Mapping[str, Any] | None:
    """needed: sizes that must be given; sizes: at least 1 where given; counts: may be 0."""
    below = _below(section, key)
    if below is None:
        return None
    found: dict[str, Any] = {name: below.whole(name, smallest=1) for name in needed}
    found |= {name: value for name in sizes if (value := below.optional(name)) is not None}
    found |= {name: value for name in counts if (value := below.optional(name, smallest=0)) is not None}
    below.finish()
    return found
