"""The memory picture: weights, cache and the rest of each configuration; what the engine's fraction holds."""

from __future__ import annotations

from planner import engines
from planner.domain.evaluation import Evaluation, PlanResult
from planner.evaluation import Detail
from planner.format import gibibytes, gigabytes
from planner.report.analysis_types import MemoryRow


def memory_rows(result: PlanResult) -> tuple[MemoryRow, ...]:
    """Baseline, each lever that is pulled or considered, and what ships; equal rows are drawn once."""
    rows = [_row("baseline", result.baseline)]
    for step in result.steps:
        if step.after is not None:
            word = "" if step.lever.status == "adopt" else " (considered)"
            rows.append(_row(f"+ {step.lever.title}{word}", step.after))
    kept = [rows[0]]
    for row in rows[1:]:
        before = (kept[-1].weights_bytes, kept[-1].cache_bytes, kept[-1].rest_bytes)
        if (row.weights_bytes, row.cache_bytes, row.rest_bytes) != before:
            kept.append(row)
    return (*kept, _row("shipped", result.shipped))


def _row(name: str, evaluation: Evaluation) -> MemoryRow:
    """cache: what the declared load needs, recurrent state with it."""
    memory = evaluation.memory
    cache = None if memory.kv_cache_bytes is None else memory.kv_cache_bytes + (memory.state_bytes or 0.0)
    rest = memory.activation_bytes + memory.cuda_graph_bytes + memory.runtime_bytes
    return MemoryRow(name, memory.weights_bytes, cache, rest, memory.usable_bytes)


def fraction(detail: Detail) -> str:
    """What is inside the engine's fraction, and how large that is where it is a share of the whole."""
    settings, module = detail.plan.engine, engines.get(detail.plan.engine.name)
    said: str = module.inside_fraction(detail.plan)
    if module.FRACTION_KEY != "gpu_memory_utilization" or settings.memory_fraction is None:
        return said
    share, total = settings.memory_fraction, detail.evaluation.memory.capacity_bytes
    return f"{said} It is {share:g} x {gibibytes(total)} = {gibibytes(share * total)} ({gigabytes(share * total)})."
