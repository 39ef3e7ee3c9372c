"""What vLLM checks at start, in its own order, and what it then says."""

from __future__ import annotations

from planner.domain.plan import Plan
from planner.domain.shards import Parallel
from planner.engines._catalogue import Figures
from planner.engines._ledger import Refusal, Taken, gib
from planner.engines._vllm_budget import runtime_bytes
from planner.physics.paged_cache import PagedCache


def refuse(plan: Plan, chosen: Figures, taken: Taken, paged: PagedCache, blocks: int) -> Refusal:
    """The first check that fails; no text where all pass. taken.pool may be negative here.

    paged: the pages one sequence is checked with, those of all stages in some versions. blocks: of one stage.
    """
    total = plan.hardware.capacity_bytes
    _, start = runtime_bytes(plan, Parallel.of(plan.engine), chosen)
    free = total - start - plan.hardware.reserved_bytes
    fraction = plan.engine.memory_fraction or 0.0
    if free < taken.weights:
        text = f"The weights take {gib(taken.weights)} a card, {gib(free)} is free: loading runs out of memory."
        return Refusal(text, {"reason": "weights", "weights_bytes": taken.weights, "free_bytes": free})
    if chosen["start_check"] and fraction * total > free:
        return _not_free(fraction, total, free)
    if blocks == 0:
        fixed = fraction * total - taken.pool
        text = f"No memory is left for the cache: {gib(fixed)} is taken before it, of {gib(fraction * total)}."
        return Refusal(text, {"reason": "no-blocks", "available_bytes": taken.pool, "taken_bytes": fixed})
    return _lengths(plan, chosen, taken, paged, blocks)


def _not_free(fraction: float, total: float, free: float) -> Refusal:
    largest = int(max(0.0, free) / total * 1000) / 1000
    text = (
        f"{fraction:g} x {gib(total)} = {gib(fraction * total)} is asked for, {gib(free)} is free at start: "
        f"the largest utilisation that starts is {largest:.3f}."
    )
    values = {"wanted_bytes": fraction * total, "free_bytes": free, "largest_fraction": largest}
    return Refusal(text, {"reason": "free-at-start", **values})


def _lengths(plan: Plan, chosen: Figures, taken: Taken, paged: PagedCache, blocks: int) -> Refusal:
    """One sequence of max_model_len, and a state for each of max_num_seqs."""
    length, sequences = plan.engine.max_model_len or 0, plan.engine.max_num_seqs or 0
    whole = plan.engine.pipeline_parallel_size > 1 and chosen["pipeline_check_whole_model"]
    held = paged.pool_blocks(taken.pool) if whole else blocks
    if paged.sequence_blocks(length) > held:
        needed, longest = paged.sequence_bytes(length), paged.longest(held, length)
        text = (
            f"One sequence of {length:,} tokens needs {gib(needed)} of cache, {gib(taken.pool)} is available: "
            f"the longest that fits is {longest:,} tokens."
        )
        if whole:
            text += " This version holds the cache of all pipeline stages against the smallest stage's pool."
        values = {"needed_bytes": needed, "available_bytes": taken.pool, "largest_max_model_len": longest}
        return Refusal(text, {"reason": "one-sequence", **values})
    graphs = plan.techniques.cuda_graphs or not plan.engine.enforce_eager
    states = plan.model.state_bytes_per_sequence > 0
    if chosen["state_block_check"] and graphs and states and sequences > blocks:
        text = f"max_num_seqs {sequences:,} is above the {blocks:,} state blocks of the pool."
        values = {"max_num_seqs": sequences, "blocks": blocks, "largest_max_num_seqs": blocks}
        return Refusal(text, {"reason": "state-blocks", **values})
    return Refusal()
