"""Sparse attention: each token attends to the `selected_tokens` cached tokens that matter most to it.

It moves bandwidth in decode (only the selected entries are read) and arithmetic in long prefills. The cache itself
stays whole: any token may be selected later.

It spends accuracy where the selection misses, and the work of selecting, which depends on the method and is charged
nothing here. A model trained for it (an index in its config) has it in its architecture and needs no lever.

It does nothing where no context is longer than the selection, and for models without full-attention layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.model import Mixer, MixerKind
from planner.domain.plan import Plan
from planner.levers import LeverContext, _full_attention
from planner.levers._lengths import longest_context

NAME = "sparse-attention"
CLASS: LeverClass = "output-changing"
ORDER = 140
REDUCES: tuple[str, ...] = ("bandwidth", "arithmetic")
EVALUATE: tuple[tuple[str, str], ...] = (
    ("task", "The deployment's own tasks against full attention: a non-inferior result."),
    ("long-context", "Retrieval and reasoning at the longest declared context, several facts far apart."),
)
PROPERTIES: dict[str, Any] = {
    "selected_tokens": {
        "$ref": "#/$defs/positive_integer",
        "description": "Cached tokens that a query reads at most, in each full-attention layer.",
    },
}
REQUIRED: tuple[str, ...] = ("selected_tokens",)
EXAMPLE = """\
- use: sparse-attention
  selected_tokens: 2048
"""
INTERACTS: tuple[tuple[str, str], ...] = (
    ("quantize-kv-cache", "tokens are selected by rounded keys: evaluate the two together"),
    ("speculative-decoding", "the declared acceptance belongs to full attention: measure it with the selection"),
)
KINDS = frozenset({"full-attention", "latent-attention"})
ASSUMPTION = "selecting the tokens of sparse attention is charged nothing"


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {"selected_tokens": int(parameters["selected_tokens"])}


def applies(plan: Plan, lever: LeverUse) -> str:
    if not _full_attention.positions(plan.model, KINDS):
        return f"{plan.model.name} has no full-attention layer to change"
    selected = lever.parameters["selected_tokens"]
    longest = longest_context(plan)
    if longest is not None and selected >= longest:
        return f"{selected:,} selected tokens are all of the longest context, {longest:,.0f}"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    selected = lever.parameters["selected_tokens"]
    layers = _full_attention.positions(plan.model, KINDS)
    model = _full_attention.rewrite(plan.model, layers, KINDS, lambda mixer: _sparse(mixer, selected))
    return replace(plan, model=model, assumptions=(*plan.assumptions, ASSUMPTION))


def _sparse(mixer: Mixer, selected: int) -> Mixer:
    kind: MixerKind = "sparse-latent-attention" if mixer.kind == "latent-attention" else "sparse-attention"
    return replace(mixer, kind=kind, sparse_tokens=selected)
