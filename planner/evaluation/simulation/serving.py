"""The engine of a plan as the event simulation runs it: its limits, and the times of its steps."""

from __future__ import annotations

import math
from typing import Any

from planner.domain.plan import Plan
from planner.domain.shards import Parallel, kv_bytes_per_token
from planner.engines import MemoryLedger
from planner.evaluation.floor_clock import FloorClock
from planner.evaluation.latency import seats_of
from planner.evaluation.operating import engine_of
from planner.evaluation.ranks import together_of
from planner.evaluation.service import Service
from planner.traffic.engine import Clock, Limits
from planner.traffic.step_clock import StepClock

UNLIMITED_SEATS = 4096.0


def limits_of(plan: Plan, ledger: MemoryLedger, service: Service) -> Limits:
    """Of what steps on its own: one data-parallel rank, or all that step together."""
    memory, engine, together = ledger.memory, plan.engine, together_of(plan)
    block = max(int(engine.block_size or 16), 1)
    tokens = memory.kv_capacity_tokens
    share = together / engine.data_parallel_size
    blocks = int(tokens * share // block) if tokens is not None and math.isfinite(tokens) else 0
    seats = float(engine.max_num_seqs or UNLIMITED_SEATS)
    if blocks == 0:
        seats = min(seats, seats_of(plan, memory.max_concurrency))
    speculation = plan.techniques.speculation
    settings = engine_of(service, seats, 1.0) if service.step.cost is not None else None
    queue = plan.workload.queue
    return Limits(
        budget_tokens=int(engine.max_num_batched_tokens or 8192) * max(engine.pipeline_parallel_size, 1) * together,
        seats=max(int(min(seats * together, 1e9)), 1),
        blocks=blocks,
        block_tokens=block,
        reserve_maximum=engine.admission == "reserve-maximum",
        chunked=plan.techniques.chunked_prefill or service.step.ideal,
        continuous=plan.techniques.continuous_batching or service.step.ideal,
        tokens_per_step=speculation.tokens_per_step if speculation else 1.0,
        proposed=speculation.proposed if speculation else 0,
        first_token_s=float(settings.first_token_s) if settings else 0.0,
        first_token_steps=float(settings.first_token_steps) if settings else 0.0,
        queue=float(queue.requests) if queue and queue.requests is not None else math.inf,
        queue_s=queue.timeout_s if queue and queue.timeout_s is not None else math.inf,
        **_host(plan, block),
    )


def _host(plan: Plan, block: int) -> dict[str, Any]:
    """The host tier of one rank: its share of the memory, in blocks, and the time to fetch a token.

    Every accelerator fetches its own part of a token's cache over its own link.
    """
    offload, engine = plan.techniques.kv_offload, plan.engine
    each = float(kv_bytes_per_token(plan.model, plan.cache_format, Parallel.of(engine)))
    if offload is None or not each:
        return {}
    of_rank = each * engine.tensor_parallel_size * max(engine.pipeline_parallel_size, 1) * block
    blocks = int(offload["memory_bytes"] / engine.data_parallel_size // of_rank)
    return {"host_blocks": blocks, "fetch_s": each / offload["link_bytes_per_s"]}


def clock_of(service: Service, limits: Limits) -> Clock:
    """Step times of the plan's engine."""
    speculation = service.plan.techniques.speculation
    width = speculation.proposed + 1.0 if speculation else 1.0
    if service.step.cost is None:
        return FloorClock(service, width)
    together = together_of(service.plan)
    chunk = limits.budget_tokens / max(service.plan.engine.pipeline_parallel_size, 1) / together
    return StepClock(service.step.cost, chunk, width, service.drafting_s, service.prompt_extra_s, together)
