"""Where one limit gives way to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from planner.domain.levers import LeverUse
from planner.domain.plan import Plan
from planner.evaluation import Detail
from planner.evaluation.configure import adopted, configure
from planner.evaluation.mix import mix_of
from planner.evaluation.service import Service, service_of
from planner.report.analysis_types import Quantity, TurningPoint

LARGEST_BATCH = 65_536
LONGEST_CONTEXT = 16_777_216


def turning_points(plan: Plan, detail: Detail) -> tuple[TurningPoint, ...]:
    service, batch = detail.served.service, detail.served.operating.batch
    points = [_cache_over_weights(service, batch), _compute_over_bandwidth(service, batch)]
    speculation = _speculation(plan)
    if speculation is not None:
        points.append(_speculation_pays(plan, speculation, batch))
    return tuple(_limited(point, detail.plan) for point in points)


def _limited(point: TurningPoint, plan: Plan) -> TurningPoint:
    """The point with what the engine admits of its input."""
    key = {"tokens": "max_model_len", "sequences": "max_num_seqs"}[point.at.dimension]
    limit = getattr(plan.engine, key)
    return point if limit is None else replace(point, limit=float(limit), limit_key=key)


def first(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """The smallest whole number from low to high at which `holds`, for what stays true once it is; None if never."""
    if holds(low):
        return low
    if not holds(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _cache_over_weights(service: Service, batch: float) -> TurningPoint:
    def over(context: int) -> bool:
        terms = service.decode_split(batch, float(context)).terms
        return terms["cache_s"] > terms["weights_s"]

    at = first(over, 1, LONGEST_CONTEXT)
    present = service.mix.context
    now = service.decode_split(batch).terms
    here = "cache reads dominate" if now["cache_s"] > now["weights_s"] else "weight reads dominate"
    return TurningPoint(
        "Context at which cache reads exceed weight reads",
        Quantity(float(at) if at is not None else None, "tokens"),
        Quantity(present, "tokens"),
        here,
        f"batch x cache bytes(context) > weight bytes read a step, at a batch of {batch:.3g} on one rank",
        "" if at is not None else "the cache of a sequence stops growing (windows, or recurrent state)",
    )


def _compute_over_bandwidth(service: Service, batch: float) -> TurningPoint:
    def over(size: int) -> bool:
        split = service.decode_split(float(size))
        return split.compute_s > split.memory_s

    at = first(over, 1, LARGEST_BATCH)
    split = service.decode_split(batch)
    here = "arithmetic is longer" if split.compute_s > split.memory_s else "reading is longer"
    reason = "each sequence reads its own cache: arithmetic never catches up at this context"
    return TurningPoint(
        "Batch at which arithmetic overtakes bandwidth",
        Quantity(float(at) if at is not None else None, "sequences"),
        Quantity(batch, "sequences"),
        here,
        "operations / achieved arithmetic > bytes / achieved bandwidth, of one decode step on one rank",
        "" if at is not None else reason,
    )


def _speculation(plan: Plan) -> LeverUse | None:
    uses = [item for item in plan.levers if item.use == "speculative-decoding" and item.status != "reject"]
    return uses[0] if uses else None


def _speculation_pays(plan: Plan, use: LeverUse, batch: float) -> TurningPoint:
    """E t(B) against t(B (k + 1)) + k t_draft."""
    without = tuple(item for item in adopted(plan) if item.use not in ("speculative-decoding", "lossy-acceptance"))
    stack = tuple(item for item in plan.levers if item in without or item is use)
    base, drafted = configure(plan, without), configure(plan, stack)
    plain = service_of(base, mix_of(base))
    faster = service_of(drafted, mix_of(drafted))

    def loses(size: int) -> bool:
        return faster.decode_s(float(size)) / faster.tokens_per_step >= plain.decode_s(float(size))

    at = first(loses, 1, LARGEST_BATCH)
    here = "it loses" if loses(max(round(batch), 1)) else "it pays"
    return TurningPoint(
        "Batch at which speculation stops paying",
        Quantity(float(at) if at is not None else None, "sequences"),
        Quantity(batch, "sequences"),
        here,
        "tokens a step x t(B) < t(B (k + 1)) + k t(draft)",
        "" if at is not None else "it pays at every batch: reading outweighs arithmetic throughout",
    )
