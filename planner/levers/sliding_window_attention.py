"""Sliding-window attention: some or all layers see only the last `window` tokens, and keep no more.

It moves cache memory (a windowed layer keeps `window` tokens of a sequence, however long), bandwidth in decode (it
reads no more than it keeps) and arithmetic in long prefills (each token attends to `window` others). `layers` chooses
among the full-attention layers: all of them, `{every: 2}` each second one, `{all_but_every: 6}` all but each sixth.

It spends what lies outside the window: a model that was not trained with it loses long-range recall, and the answers
change. It is a change of the model, not a switch of the engine.

It does nothing where the window is no shorter than the longest context, and for models without full-attention layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.model import Mixer, Model
from planner.domain.plan import Plan
from planner.levers import LeverContext, _full_attention
from planner.levers._lengths import longest_context

NAME = "sliding-window-attention"
CLASS: LeverClass = "output-changing"
ORDER = 130
REDUCES: tuple[str, ...] = ("cache memory", "bandwidth", "arithmetic")
EVALUATE: tuple[tuple[str, str], ...] = (
    ("task", "The deployment's own tasks against full attention: a non-inferior result."),
    ("long-context", "Retrieval and reasoning at contexts well beyond the window."),
)
PROPERTIES: dict[str, Any] = {
    "window": {"$ref": "#/$defs/positive_integer", "description": "Tokens that a layer sees and keeps."},
    "layers": {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "description": "Which of the full-attention layers; left out: all.",
        "properties": {
            "every": {"$ref": "#/$defs/small_integer", "description": "Each so-manieth layer gets the window."},
            "all_but_every": {
                "$ref": "#/$defs/small_integer",
                "minimum": 2,
                "description": "Each so-manieth layer stays full.",
            },
        },
    },
}
REQUIRED: tuple[str, ...] = ("window",)
EXAMPLE = """\
- use: sliding-window-attention
  window: 4096
  layers: {every: 2}
"""
INTERACTS: tuple[tuple[str, str], ...] = (
    ("prefix-caching", "windowed layers drop old blocks: a hit rate measured with full attention does not hold"),
    ("sparse-attention", "both change the same layers: what one has changed the other leaves alone"),
    ("speculative-decoding", "the declared acceptance belongs to full attention: measure it with the window"),
)
KINDS = frozenset({"full-attention"})


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    """window; every, all_but_every: int or None."""
    layers = parameters.get("layers") or {}
    chosen = {key: int(layers[key]) if key in layers else None for key in ("every", "all_but_every")}
    return {"window": int(parameters["window"]), **chosen}


def applies(plan: Plan, lever: LeverUse) -> str:
    if not _chosen(plan.model, lever):
        return f"{plan.model.name} has no full-attention layer to change"
    window = lever.parameters["window"]
    longest = max(longest_context(plan) or 0, plan.engine.max_model_len or 0)
    if longest and window >= longest:
        return f"the window of {window:,} tokens is no shorter than the longest context, {longest:,.0f}"
    return ""


def without_effect(plan: Plan, lever: LeverUse) -> str:
    """Where the engine admits longer sequences than the load has, and the window is longer than those of the load."""
    window, longest = lever.parameters["window"], longest_context(plan)
    if longest and window >= longest:
        return f"the window of {window:,} tokens is longer than the context of the load, {longest:,.0f}"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    window = lever.parameters["window"]
    chosen = _chosen(plan.model, lever)
    model = _full_attention.rewrite(plan.model, chosen, KINDS, lambda mixer: _windowed(mixer, window))
    return replace(plan, model=model)


def _chosen(model: Model, lever: LeverUse) -> tuple[int, ...]:
    every, all_but_every = lever.parameters["every"], lever.parameters["all_but_every"]
    layers = _full_attention.positions(model, KINDS)
    if every is not None:
        return layers[every - 1 :: every]
    if all_but_every is not None:
        return tuple(layer for count, layer in enumerate(layers, start=1) if count % all_but_every)
    return layers


def _windowed(mixer: Mixer, window: int) -> Mixer:
    cache = tuple(replace(entry, window=min(window, entry.window or window)) for entry in mixer.cache)
    return replace(mixer, kind="sliding-attention", window=window, cache=cache)
