"""Quantised cache: keys and values in fewer bits.

It moves cache memory, so more or longer sequences fit, and bandwidth in decode where cache reads are most of the
traffic: long contexts and large batches. Arithmetic stays that of the model.

It spends accuracy, most at long contexts and in retrieval: every later token attends to rounded keys. Some kernels
are slower with a quantised cache, and formats with scales save a little less than their bits say.

It does nothing where the cache has that precision already, by the checkpoint or by another key, and for models that
keep a state in place of a cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain import formats
from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext
from planner.levers._engine_keys import set_by_lever

NAME = "quantize-kv-cache"
CLASS: LeverClass = "output-changing"
ORDER = 110
REDUCES: tuple[str, ...] = ("cache memory", "bandwidth")
EVALUATE: tuple[tuple[str, str], ...] = (
    ("task", "The deployment's own tasks against a 16-bit cache: a non-inferior result."),
    ("long-context", "Retrieval and reasoning at the longest declared context."),
    ("long-form", "Long answers, where small errors add up."),
)
PROPERTIES: dict[str, Any] = {
    "format": {
        "type": "string",
        "enum": [name for name in formats.cache_spellings() if name != "auto"],
        "description": "Precision of cached keys and values.",
    },
}
REQUIRED: tuple[str, ...] = ("format",)
EXAMPLE = """\
- use: quantize-kv-cache
  format: fp8
"""
INTERACTS: tuple[tuple[str, str], ...] = (
    ("prefix-caching", "entries rounded once are read by every request with the prefix: evaluate on a warm cache"),
)


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {"format": parameters["format"]}


def applies(plan: Plan, lever: LeverUse) -> str:
    entries = [entry for _, entry in plan.model.cache_entries()]
    if not entries:
        return f"{plan.model.name} keeps no cache of its tokens"
    if all(entry.format is not None for entry in entries):
        return f"the architecture of {plan.model.name} fixes the precision of its cache"
    present = formats.get_cache(plan.cache_format or plan.model.cache_format or plan.model.dtype)
    if present is not None and present == formats.get_cache(lever.parameters["format"]):
        return f"the cache is in {present.name} already"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    declared = lever.parameters["format"]
    return replace(plan, cache_format=declared, engine=set_by_lever(plan.engine, kv_cache_dtype=declared))
