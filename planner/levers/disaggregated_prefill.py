"""Disaggregated prefill: prompts are computed by one pool of replicas, answers by another.

Each pool has settings of its own: `prefill` and `decode` are overlays on the spec, merged as `extends` merges. Decodes
are no longer interrupted by prefills, and each pool can be sized, parallelised and batched for what binds it:
arithmetic in one, bandwidth and cache in the other. It moves none of the four costs itself; it takes the prefill's
share out of the time between tokens.

It spends a copy of the weights for each pool, and a transfer of every prompt's cache: prompt x bytes-per-token / link,
one prompt after another into each engine that decodes, in the time to first token. The engine that decodes fetches when
it has a seat and blocks, and samples the first token itself, as vLLM's connectors do. What the proxy and the connector
add beside the bytes is not charged.

It does nothing where no class declares a prompt, and is not evaluated where no link between the pools is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext
from planner.levers._lengths import longest_prompt

NAME = "disaggregated-prefill"
CLASS: LeverClass = "output-preserving"
ORDER = 80
REDUCES: tuple[str, ...] = ()
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts, computed in one pool and across two."),
    ("latency", "Time to first token and the first gap with the cache transfer, under the declared load."),
)
PROPERTIES: dict[str, Any] = {
    "prefill": {
        "$ref": "#/$defs/overlay",
        "description": "What differs from the spec in the pool that computes prompts.",
    },
    "decode": {
        "$ref": "#/$defs/overlay",
        "description": "What differs from the spec in the pool that computes answers.",
    },
}
REQUIRED: tuple[str, ...] = ("prefill", "decode")
EXAMPLE = """\
- use: disaggregated-prefill
  prefill: {hardware: {replicas: 2}, engine: {max_num_seqs: 8}}
  decode: {hardware: {replicas: 1}, engine: {max_num_seqs: 256}}
"""
SIMULATED = True
INTERACTS: tuple[tuple[str, str], ...] = (
    ("chunked-prefill", "no decode runs beside a prefill any more: chunking then only bounds activations"),
    ("prefix-caching", "prefixes live in the prefill pool: a hit saves arithmetic there and no transfer"),
)


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    """The two overlays, as written: they are bound with the spec that they are merged into."""
    return {"prefill": parameters["prefill"], "decode": parameters["decode"]}


def applies(plan: Plan, lever: LeverUse) -> str:
    if longest_prompt(plan) is None:
        return "no class declares a prompt: there is no prefill to move"
    if lever.parameters.get("links_bytes_per_s", ()) is None:
        return (
            "no link between the pools is known (`hardware: {interconnect: {scale_out: ...}}`, or `domain` and "
            "`scale_up` for pools inside one domain)"
        )
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    """The plan itself: the two pools are bound from the merged document, and put together when a plan is configured."""
    return plan
