"""Figures of an architecture that cannot be true together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import number, section, whole
from planner.source.document import NodePath

PATH: NodePath = ("model", "architecture")


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    figures = section(data, *("model", "architecture"))
    if figures:
        yield from _attention(section(figures, "attention"))
        yield from _most(figures, ("active_parameters",), number(figures.get("parameters")), "parameters")
        layers = number(figures.get("layers"))
        for path in (("attention", "layers"), ("recurrent", "layers"), ("experts", "layers")):
            yield from _most(figures, path, layers, "layers")
        attending = number(section(figures, "attention").get("layers", figures.get("layers")))
        yield from _most(figures, ("attention", "window_layers"), attending, "the layers with attention")
        count = number(section(figures, "experts").get("count"))
        yield from _most(figures, ("experts", "per_token"), count, "experts.count")


def _attention(attention: Mapping[str, Any]) -> Iterator[Problem]:
    path: NodePath = (*PATH, "attention")
    if not attention:
        return
    latent = attention.get("kind") == "latent"
    for key in ("latent_dim", "rope_dim") if latent else ("kv_heads",):
        if key not in attention:
            hint = "Latent attention caches latent_dim + rope_dim values." if latent else "It decides what is cached."
            yield Problem("missing-key", path, f"`attention` lacks the key `{key}`", hint, True, {"key": key})
    for key in () if latent else ("latent_dim", "rope_dim"):
        if key in attention:
            hint = "Write kind: latent, or remove it."
            yield Problem("misplaced-key", (*path, key), f"`{key}` belongs to latent attention", hint, at_key=True)
    if "window_layers" in attention and "window" not in attention:
        message = "`window_layers` means nothing without `window`"
        yield Problem("misplaced-key", (*path, "window_layers"), message, "Add `window`.", at_key=True)
    heads, kv_heads = whole(attention.get("heads")), whole(attention.get("kv_heads"))
    if heads and kv_heads and heads % kv_heads:
        message = f"{heads} query heads do not divide into {kv_heads} KV heads"
        yield Problem("figures-disagree", (*path, "kv_heads"), message, f"A divisor of {heads} does.")


def _most(figures: Mapping[str, Any], path: tuple[str, ...], limit: float | None, what: str) -> Iterator[Problem]:
    value = number(section(figures, *path[:-1]).get(path[-1]))
    if value is not None and limit is not None and value > limit:
        message = f"{'.'.join(path)} is {value:.15g}, more than {what}, {limit:.15g}"
        yield Problem("figures-disagree", (*PATH, *path), message, values={"limit": limit})
