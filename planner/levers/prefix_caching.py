"""Prefix caching: cache blocks of a prompt's beginning are kept and used again by the next request that has it.

A hit skips the arithmetic and the cache writes of its tokens, and still reads their cache in attention. It moves
arithmetic, and with it time to first token and the share of steps that prefills take. How much is what a class
declares as `prefix`: tokens shared by all, or the hit rate that the engine logs.

It spends cache memory: kept blocks live in the same pool as running sequences. So it is never counted on for
capacity, and a cold start, a lost node or an eviction storm sees none of it. Answer times can tell one tenant what
another has asked.

It does nothing where no class declares a prefix or turns of a session and no trace has the blocks of its prompts, and
where the prefix is shorter than a block. The state of recurrent layers stands for a whole prompt: some engine versions
keep it at block boundaries, others drop prefix caching for such models. Their blocks are long (a block of cache is as
large as a state: hundreds of tokens).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner import engines
from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.domain.workload import RequestClass
from planner.levers import LeverContext
from planner.levers._engine_keys import set_by_lever, switch_on

NAME = "prefix-caching"
CLASS: LeverClass = "output-preserving"
ORDER = 50
REDUCES: tuple[str, ...] = ("arithmetic",)
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts on a cold and on a warm cache."),
    ("hit-rate", "The share of prompt tokens found in the cache, on the deployment's own traffic and cache size."),
)
PROPERTIES: dict[str, Any] = {}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = "- use: prefix-caching\n"
INTERACTS: tuple[tuple[str, str], ...] = (
    (
        "kv-offload",
        "blocks kept in host memory are found there too: the declared hit rate must be that of both together",
    ),
)


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {}


def applies(plan: Plan, lever: LeverUse) -> str:
    block = engines.prefix_block(plan)
    if block is None:
        version = f" {plan.engine.version}" if plan.engine.version else ""
        return f"{plan.engine.name}{version} keeps no prefixes of a model with these recurrent layers"
    repeated = max((_repeated_tokens(item) for item in plan.workload.classes), default=0.0)
    if _recorded_blocks(plan):
        return ""
    if repeated == 0:
        return "no class declares a prefix (`prefix: {shared_tokens: …}` or `{hit_rate: …}`)"
    if repeated < block:
        return f"{repeated:g} shared tokens do not fill a block of {block}"
    return ""


def idle(plan: Plan) -> Plan:
    """Without a prefix to find, the states of recurrent layers are kept all the same."""
    if plan.model.state_bytes_per_sequence == 0 or engines.prefix_block(plan) is None:
        return plan
    return replace(plan, engine=set_by_lever(plan.engine, enable_prefix_caching=True))


def _recorded_blocks(plan: Plan) -> bool:
    """Whether recorded traffic says which blocks its prompts begin with."""
    loads = [plan.workload.load, *(item.load for item in plan.workload.classes if item.load is not None)]
    return any(load.recording is not None and len(load.recording.prefixes) > 0 for load in loads)


def _repeated_tokens(item: RequestClass) -> float:
    """Prompt tokens that come again; infinite where only a rate or a session says that some do."""
    if item.session is not None and item.session.turns > 1:
        return float("inf")
    if item.prefix is None:
        return 0.0
    if item.prefix.hit_rate:
        return float("inf")
    return item.prefix.shared_tokens or 0.0


def apply(plan: Plan, lever: LeverUse) -> Plan:
    block = engines.prefix_block(plan) or 1
    classes = tuple(_in_blocks(item, block) for item in plan.workload.classes)
    cut = replace(plan, workload=replace(plan.workload, classes=classes))
    return switch_on(cut, "prefix_caching", enable_prefix_caching=True)


def _in_blocks(item: RequestClass, block: int) -> RequestClass:
    """A shared prefix is found again as far as it fills blocks; a hit rate is what the engine logs."""
    if item.prefix is None or not item.prefix.shared_tokens:
        return item
    return replace(item, prefix=replace(item.prefix, shared_tokens=item.prefix.shared_tokens // block * block))
