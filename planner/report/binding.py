"""What binds: which of weight memory, cache memory, bandwidth and arithmetic gives way first, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from planner.domain.evaluation import Evaluation, Memory, Split
from planner.format import duration, memory, percent
from planner.report.report_model import BindingSection, Cell, Column, Row, Table

WEIGHT_MEMORY, CACHE_MEMORY, BANDWIDTH, ARITHMETIC = "weight memory", "cache memory", "bandwidth", "arithmetic"
_OF_SPLIT = {"bandwidth": BANDWIDTH, "compute": ARITHMETIC}
_TIME_WORDS = {
    BANDWIDTH: "reading weights and cache",
    ARITHMETIC: "multiplying",
    "communication": "exchanging activations between accelerators",
    "overhead": "launching work on the accelerator",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """limit: one of the four, or communication or overhead. sentence: what it is, in figures."""

    limit: str
    sentence: str


def rest_bytes(used: Memory) -> float:
    """What is neither weights nor cache: activations, graphs, runtime, state."""
    return fsum((used.activation_bytes, used.cuda_graph_bytes, used.runtime_bytes, used.state_bytes or 0.0))


def needed_bytes(used: Memory) -> float:
    return fsum((used.weights_bytes, used.kv_cache_bytes or 0.0, rest_bytes(used)))


def lacks_memory(used: Memory) -> bool:
    """Whether the declared load does not fit, even where the engine itself would start."""
    return not used.fits or (used.free_bytes is not None and used.free_bytes < 0)


def bound_of(evaluation: Evaluation) -> Bound:
    """Memory where the load does not fit, else the largest part of a decode step."""
    if lacks_memory(evaluation.memory):
        return _memory_bound(evaluation.memory)
    split = evaluation.latency.decode or evaluation.latency.prefill
    if split is None:
        return Bound("unknown", "The spec does not say enough to split a step into its parts.")
    limit = _OF_SPLIT.get(split.bound, split.bound)
    step = evaluation.latency.decode_step_s if evaluation.latency.decode else evaluation.latency.prefill_s
    seconds = _seconds(split).get(limit)
    share = f", {percent(seconds / step)} of it" if step and seconds is not None else ""
    kind = "decode step" if evaluation.latency.decode else "prefill"
    what = _TIME_WORDS.get(limit, limit)
    return Bound(limit, f"A {kind} takes {duration(step)}; {what} takes {duration(seconds)}{share}.")


def _memory_bound(used: Memory) -> Bound:
    cache = used.kv_cache_bytes or 0.0
    if used.weights_bytes + rest_bytes(used) > used.usable_bytes or used.weights_bytes > cache:
        limit = WEIGHT_MEMORY
    else:
        limit = CACHE_MEMORY
    needed = needed_bytes(used)
    sum_of = "with the rest" if rest_bytes(used) > 0 else "together"
    start = "At the promised length of every sequence, weights take" if used.fits else "Weights take"
    return Bound(
        limit,
        f"{start} {memory(used.weights_bytes)} and the cache {memory(used.kv_cache_bytes)}, "
        f"{sum_of} {memory(needed)} of {memory(used.usable_bytes)} usable on each accelerator.",
    )


def _seconds(split: Split) -> dict[str, float]:
    return {
        BANDWIDTH: split.memory_s,
        ARITHMETIC: split.compute_s,
        "communication": split.communication_s,
        "overhead": split.overhead_s,
    }


def section(evaluation: Evaluation) -> BindingSection:
    """The four limits side by side, each as a share of what there is."""
    bound = bound_of(evaluation)
    rows = [*_memory_rows(evaluation.memory, bound.limit), *_time_rows(evaluation, bound.limit)]
    columns = (Column("Limit"), Column("Used", True), Column("Of"), Column("Share", True))
    table = Table("How much of each limit the shipped plan uses", columns, tuple(rows))
    return BindingSection(f"{bound.limit.capitalize()} binds. {bound.sentence}", _prefill(evaluation), table)


def _row(limit: str, used: Cell, of: str, share: float | None, binding: str) -> Row:
    marked = limit == binding
    label = Cell(f"{limit} (binds)" if marked else limit)
    tone = "bad" if share is not None and share > 1.0005 else ""
    return Row(
        (label, used, Cell(of), Cell(percent(share), share, share=share, tone=tone)), "binding" if marked else ""
    )


def _memory_rows(used: Memory, binding: str) -> list[Row]:
    left = used.usable_bytes - used.weights_bytes - rest_bytes(used)
    weights = used.weights_bytes / used.usable_bytes if used.usable_bytes else None
    cache = used.kv_cache_bytes / left if used.kv_cache_bytes is not None and left > 0 else None
    return [
        _row(
            WEIGHT_MEMORY,
            Cell(memory(used.weights_bytes), used.weights_bytes),
            f"{memory(used.usable_bytes)} usable",
            weights,
            binding,
        ),
        _row(
            CACHE_MEMORY,
            Cell(memory(used.kv_cache_bytes), used.kv_cache_bytes),
            f"{memory(max(left, 0.0))} left beside weights and the rest",
            cache,
            binding,
        ),
    ]


def _time_rows(evaluation: Evaluation, binding: str) -> list[Row]:
    split, step = evaluation.latency.decode, evaluation.latency.decode_step_s
    if split is None or not step:
        return []
    rows = []
    for limit, seconds in _seconds(split).items():
        if limit in (BANDWIDTH, ARITHMETIC) or seconds > 0:
            used = Cell(duration(seconds), seconds)
            rows.append(_row(limit, used, f"{duration(step)} decode step", seconds / step, binding))
    return rows


def _prefill(evaluation: Evaluation) -> str:
    split, seconds = evaluation.latency.prefill, evaluation.latency.prefill_s
    if split is None or seconds is None:
        return ""
    limit = _OF_SPLIT.get(split.bound, split.bound)
    return f"The prefill of one prompt takes {duration(seconds)}; {limit} binds it."
