"""Memory that start-up logs told of beside the memory account of what ships."""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.calibration import MeasuredMemory
from planner.domain.plan import Plan
from planner.evaluation import Detail
from planner.evaluation.calibrated import calibration_of
from planner.format import memory, quantity
from planner.report.analysis_types import ProvenanceRow

LIMITS = ("max_model_len", "max_num_seqs", "max_num_batched_tokens")


def rows(plan: Plan, detail: Detail) -> Iterator[ProvenanceRow]:
    """Of every log that is listed, and of the calibration that is used; a bound plan."""
    for item in plan.measurements:
        if item.memory is not None:
            yield from _of(item.memory, item.name, detail)
    known, exact = calibration_of(detail.plan)
    if known is not None and exact:
        yield from _of(known.memory, known.file, detail)


def _of(told: MeasuredMemory, source: str, detail: Detail) -> Iterator[ProvenanceRow]:
    found, ranks = detail.evaluation.memory, detail.plan.engine.data_parallel_size
    where = source + _limits(told, detail.plan)
    tokens = found.kv_capacity_tokens / ranks if found.kv_capacity_tokens is not None else None
    for title, measured, estimate in (
        ("weights on an accelerator", told.weights_bytes, found.weights_bytes),
        ("cache pool on an accelerator", told.pool_bytes, found.kv_pool_bytes),
        ("captured graphs", told.graph_bytes, found.cuda_graph_bytes),
    ):
        if measured is not None:
            text = f"{memory(measured)}, estimate {memory(estimate)}{_off(measured, estimate)}"
            yield ProvenanceRow(f"Logged {title}", text, "measured", where)
    if told.pool_tokens is not None and tokens is not None:
        text = f"{quantity(told.pool_tokens, 'tokens')}, estimate {quantity(tokens, 'tokens')}"
        yield ProvenanceRow(
            "Logged tokens of the cache, one rank", text + _off(told.pool_tokens, tokens), "measured", where
        )


def _off(measured: float, estimate: float) -> str:
    return f" ({measured / estimate - 1:+.1%})".replace("%", " %") if estimate else ""


def _limits(told: MeasuredMemory, plan: Plan) -> str:
    """Limits that the engine was started with and the plan does not have: the pool hangs on them."""
    apart = [
        f"{name} {getattr(told, name):,}"
        for name in LIMITS
        if getattr(told, name) is not None and getattr(told, name) != getattr(plan.engine, name)
    ]
    return f"; started with {', '.join(apart)}" if apart else ""
