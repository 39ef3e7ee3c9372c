"""The smallest change of engine settings with which an engine that refuses would start; the output stays.

One setting alone; where none is enough, one together with a context no longer than the longest request.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planner import engines
from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation.mix import promised_tokens
from planner.evaluation.starting import largest, ledger, starts

HIGHEST_PERCENT = 98
"""Of memory given to the engine: above it the driver's context has no room on any card."""


def setting_ways(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """(words, {setting: value}) of each setting that is enough. plan: configured, and refused."""
    alone = tuple(_alone(plan))
    yield from alone or _shorter(plan)


def _shorter(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each setting that is enough once the context is the longest request and no more."""
    longest = math.ceil(max(map(promised_tokens, plan.workload.classes), default=0.0))
    limit = plan.engine.max_model_len
    if limit is None or not 0 < longest < limit or starts(plan, max_model_len=longest):
        return
    shorter = replace(plan, engine=replace(plan.engine, max_model_len=longest))
    for text, changed in _alone(shorter):
        yield (
            f"max_model_len of {longest:,}, as long as the longest request, and {text}",
            {
                "max_model_len": longest,
                **changed,
            },
        )


def _alone(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _fraction(plan)
    yield from _sequences(plan)
    yield from _graphs(plan)
    yield from _batched_tokens(plan)


def _fraction(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nearest share, up or down in hundredths, that starts and leaves room for what lives outside it."""
    key, declared = getattr(engines.get(plan.engine.name), "FRACTION_KEY", None), plan.engine.memory_fraction
    if key is None or declared is None:
        return
    enough = _shares(plan)
    if enough:
        percent = min(enough, key=lambda percent: (abs(percent / 100 - declared), percent))
        yield f"{key} of {percent / 100:g}", {"memory_fraction": percent / 100}


def _shares(plan: Plan) -> range:
    """The hundredths that start. Too much stays too much above, too little too little below: both ends are bisected."""

    def tried(percent: int) -> MemoryLedger:
        return ledger(plan, memory_fraction=percent / 100)

    def leaves_room(percent: int) -> bool:
        found = tried(percent)
        return found.memory.headroom_bytes >= 0 and found.refusal_values.get("reason") != "free-at-start"

    most = largest(leaves_room, HIGHEST_PERCENT)
    if not most or not tried(most).memory.fits:
        return range(0)
    short = largest(lambda percent: not tried(percent).memory.fits, most)
    return range(short + 1, most + 1)


def _sequences(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """The most sequences at once that hold the load: fewer sample at once, and fewer states or slots are held."""
    declared, load = plan.engine.max_num_seqs, plan.workload.load.concurrency or 1.0
    if not declared or declared < 2:
        return
    most = largest(lambda count: starts(plan, max_num_seqs=count), declared - 1)
    replicas = max(1, plan.hardware.replicas.minimum) * plan.engine.data_parallel_size
    if most >= load / replicas:
        yield f"max_num_seqs of {most:,}", {"max_num_seqs": most}


def _graphs(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    if plan.techniques.cuda_graphs:
        without = replace(plan, techniques=replace(plan.techniques, cuda_graphs=False))
        if starts(without, enforce_eager=True):
            yield "enforce_eager", {"enforce_eager": True}


def _batched_tokens(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """The most tokens of a step, where prompts are chunked: without it a step holds a whole prompt."""
    tokens, sequences = plan.engine.max_num_batched_tokens, plan.engine.max_num_seqs or 1
    if tokens is None or not plan.engine.enable_chunked_prefill:
        return
    most = largest(lambda count: starts(plan, max_num_batched_tokens=count), tokens)
    if max(sequences, 256) <= most < tokens:
        yield f"max_num_batched_tokens of {most:,}", {"max_num_batched_tokens": most}
