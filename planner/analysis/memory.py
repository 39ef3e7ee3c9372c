"""The memory picture: weights, cache and the rest of each configuration."""

from __future__ import annotations

from planner.domain.evaluation import Evaluation, PlanResult
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
