"""What the workload asks of memory: sequences at once, and the tokens that each is promised."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from planner.domain.plan import Plan
from planner.domain.workload import RequestClass


@dataclass(frozen=True, slots=True)
class Demand:
    """promised_tokens: the most that any class may need of a sequence, prefix sharing not counted.

    expected_tokens: mean over requests of what a running sequence holds, halfway through its answer.
    sequences: on one data-parallel rank at the declared load, None where the load does not say.
    promises: ((share of requests, tokens promised), ...) of the classes.
    """

    promised_tokens: int
    expected_tokens: float
    sequences: float | None
    promises: tuple[tuple[float, float], ...] = ()

    def mean(self, size: Callable[[float], float]) -> float:
        """`size(tokens promised)` over requests."""
        return math.fsum(share * size(tokens) for share, tokens in self.promises)


def of(plan: Plan, sequences: float | None = None) -> Demand:
    """The demand of a plan. sequences: in place of the load's own, over one replica (from a simulation, say)."""
    classes = plan.workload.classes
    share = math.fsum(item.share for item in classes) or 1.0
    promised = max((_promised(item) for item in classes), default=0.0)
    expected = math.fsum(item.share * _expected(item) for item in classes) / share
    whole = sequences if sequences is not None else _declared(plan)
    rank = None if whole is None else whole / plan.engine.data_parallel_size
    if rank is not None and plan.engine.max_num_seqs:
        rank = min(rank, float(plan.engine.max_num_seqs))  # the others wait
    promises = tuple((item.share / share, _promised(item)) for item in classes)
    return Demand(math.ceil(promised), expected, rank, promises)


def _promised(item: RequestClass) -> float:
    if item.context_tokens is not None:
        return item.context_tokens
    tokens = (item.prompt.maximum if item.prompt else 0.0) + (item.output.maximum if item.output else 0.0)
    grown = item.session.context_growth_tokens * max(0, item.session.turns - 1) if item.session else 0.0
    return tokens + grown + item.image_count * item.image_tokens


def _expected(item: RequestClass) -> float:
    """Prompt and half the answer: what a sequence holds on average while it decodes."""
    if item.context_tokens is not None:
        return item.context_tokens
    tokens = (item.prompt.mean if item.prompt else 0.0) + (item.output.mean / 2 if item.output else 0.0)
    grown = item.session.context_growth_tokens * max(0, item.session.turns - 1) / 2 if item.session else 0.0
    return tokens + grown + item.image_count * item.image_tokens


def _declared(plan: Plan) -> float | None:
    """Sequences at once on one replica: the load over all replicas divided by them."""
    load, replicas = plan.workload.load, max(1, plan.hardware.replicas.minimum)
    if load.concurrency is not None:
        return load.concurrency / replicas
    if load.sessions is not None:
        return load.sessions / replicas
    return 1.0 / replicas if load.kind == "period" else None
