"""With which setting, all else as declared, an engine that refuses would start. Each is tried on the engine itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planner.domain.plan import Plan
from planner.domain.workload import RequestClass
from planner.engines import MemoryLedger
from planner.evaluation.extra_memory import ledger_of


def ledger(plan: Plan, **settings: Any) -> MemoryLedger:
    """The ledger of a configured plan with some engine settings replaced."""
    tried = replace(plan, engine=replace(plan.engine, **settings))
    return ledger_of(tried)


def starts(plan: Plan, **settings: Any) -> bool:
    return ledger(plan, **settings).memory.fits


def largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest of 1..most for which `holds`, which is true below some point only; 0 for none. Bisection."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def longest_context(plan: Plan, share: float) -> int:
    """The longest max_model_len of which `share` sequences at once fit each data-parallel rank, tokens; 0 for none."""

    def holds(tokens: int) -> bool:
        one = RequestClass("longest", context_tokens=float(tokens))
        filled = replace(plan, workload=replace(plan.workload, classes=(one,)))
        memory = ledger(filled, max_model_len=tokens).memory
        held = memory.max_concurrency
        return memory.fits and (held is None or held + 1e-9 >= share * plan.engine.data_parallel_size)

    return largest(holds, plan.engine.max_model_len or plan.model.max_context or 1)


def largest_sequences(plan: Plan) -> int:
    """Sequences at their promised length with max_num_seqs lowered to them, of one replica; 0 where none starts."""
    most = plan.engine.max_num_seqs or 1
    slots = largest(lambda count: starts(plan, max_num_seqs=count), most)
    if not slots:
        return 0
    whole = slots * plan.engine.data_parallel_size
    held = ledger(plan, max_num_seqs=slots).memory.max_concurrency
    return whole if held is None else min(whole, math.floor(held + 1e-9))
