"""The figures of an evaluation that a report prints, in order, with their bands and what counts as better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from planner.domain.evaluation import Bands, Evaluation, Percentiles
from planner.domain.plan import Plan
from planner.domain.workload import STATISTICS
from planner.format import Dimension, band, change, quantity
from planner.report.report_model import Cell, bracketed

BandKind = Literal[
    "none", "latency", "prompt", "first_token", "request", "throughput", "cost", "hourly", "power", "energy"
]
BAND_OF: dict[str, BandKind] = {"time_to_first_token": "first_token", "request_latency": "request"}
_IN_HEAD = ("tokens/s", "usd")  # units that the head of a ladder's column names


@dataclass(frozen=True, slots=True)
class Figure:
    """better: -1 where less is better, 1 where more is, 0 where neither. ladder: it has a column in the ladder."""

    key: str
    title: str
    short: str
    dimension: Dimension
    read: Callable[[Evaluation], float | None]
    better: int
    band: BandKind = "none"
    ladder: bool = False

    def tone(self, relative: float | None) -> str:
        if relative is None or abs(relative) < 0.0005 or not self.better:
            return ""
        return "good" if relative * self.better > 0 else "bad"


def _statistic(plan: Plan, evaluation: Evaluation, metric: str) -> str:
    """The statistic to print of a latency: the one an objective binds, else the first that is known."""
    limits = [*plan.objectives.limits, *(limit for entry in plan.workload.classes for limit in entry.objectives)]
    for objective in limits:
        if objective.metric == metric and objective.statistic:
            return objective.statistic
    latency: Percentiles = getattr(evaluation.latency, f"{metric}_s")
    return next((name for name in STATISTICS if latency.at(name) is not None), "mean")


def _latency(plan: Plan, shipped: Evaluation, metric: str, title: str, short: str, ladder: bool) -> Figure:
    statistic = _statistic(plan, shipped, metric)

    def read(evaluation: Evaluation) -> float | None:
        latency: Percentiles = getattr(evaluation.latency, f"{metric}_s")
        return latency.at(statistic)

    band = BAND_OF.get(metric, "latency")
    return Figure(
        f"{metric}.{statistic}", f"{title}, {statistic}", f"{short} {statistic}", "seconds", read, -1, band, ladder
    )


def _memory_figures(basis: str | None) -> tuple[Figure, ...]:
    expected = basis == "expected"
    return (
        Figure(
            "weights", "Weights, per accelerator", "Weights", "bytes", lambda e: e.memory.weights_bytes, -1, ladder=True
        ),
        Figure(
            "cache",
            "KV cache expected of the declared load, per accelerator"
            if expected
            else "KV cache of the declared load, per accelerator",
            "KV cache",
            "bytes",
            lambda e: e.memory.kv_cache_bytes,
            -1,
            ladder=True,
        ),
        Figure(
            "free",
            "Usable memory expected to stay free, per accelerator"
            if expected
            else "Usable memory left free, per accelerator",
            "Free",
            "bytes",
            lambda e: e.memory.free_bytes,
            1,
            ladder=True,
        ),
        Figure(
            "concurrency",
            "Sequences that fit at their promised length, one replica",
            "Fit",
            "count",
            lambda e: e.memory.max_concurrency,
            1,
        ),
    )


def _throughput_figures() -> tuple[Figure, ...]:
    return (
        Figure(
            "tokens_per_user",
            "Output tokens per second, one user",
            "tokens/s, user",
            "tokens/s",
            lambda e: e.throughput.output_tokens_per_s_per_user,
            1,
            "throughput",
            True,
        ),
        Figure(
            "tokens",
            "Output tokens per second, whole deployment",
            "tokens/s, all",
            "tokens/s",
            lambda e: e.throughput.output_tokens_per_s,
            1,
            "throughput",
            True,
        ),
        Figure(
            "requests",
            "Requests per second",
            "requests/s",
            "requests/s",
            lambda e: e.throughput.requests_per_s,
            1,
            "throughput",
        ),
        Figure("usd_per_hour", "Cost per hour", "USD/hour", "usd/hour", lambda e: e.cost.usd_per_hour, -1),
        Figure(
            "usd_per_million",
            "Cost per million output tokens",
            "USD per million",
            "usd",
            lambda e: e.cost.usd_per_million_output_tokens,
            -1,
            "cost",
            True,
        ),
    )


def figures(plan: Plan, shipped: Evaluation) -> tuple[Figure, ...]:
    """Every figure of the report, in the order that it prints them."""
    first = _latency(plan, shipped, "time_to_first_token", "Time to first token", "TTFT", True)
    gap = _latency(plan, shipped, "inter_token_latency", "Time between tokens", "ITL", True)
    request = _latency(plan, shipped, "request_latency", "Time of a whole request", "Request", False)
    step = Figure(
        "step", "Decode step of the declared batch", "Step", "seconds", lambda e: e.latency.decode_step_s, -1, "latency"
    )
    prefill = Figure(
        "prefill", "Prefill of one prompt, alone", "Prefill", "seconds", lambda e: e.latency.prefill_s, -1, "prompt"
    )
    energy = Figure(
        "joules",
        "Energy per output token",
        "J per token",
        "joules",
        lambda e: e.cost.joules_per_output_token,
        -1,
        "energy",
    )
    whole, last = ((item,) if item.read(shipped) is not None else () for item in (request, energy))
    always = (*_memory_figures(shipped.memory.cache_basis), first, gap, step, prefill)
    return (*always, *whole, *_throughput_figures(), *last)


def ends(figure: Figure, value: float | None, bands: Bands) -> tuple[float | None, float | None]:
    """The band of `value`: (low, high), or (None, None) where it has none."""
    if value is None or figure.band == "none":
        return None, None
    found: tuple[float, float] = getattr(bands, figure.band)
    low, high = found
    return value * low, value * high


def relative(before: float | None, after: float | None) -> float | None:
    """(after - before) / before, None where either is unknown or nothing was there before."""
    if before is None or after is None or before <= 0:
        return None
    return (after - before) / before


def banded(figure: Figure, evaluation: Evaluation) -> str:
    value = figure.read(evaluation)
    low, high = ends(figure, value, evaluation.bands)
    return band(value, low, high, evaluation.bands.word, figure.dimension)


def cell(figure: Figure, evaluation: Evaluation, before: Evaluation | None = None) -> Cell:
    """One figure of the ladder, and how it changed from `before` where it did."""
    value = figure.read(evaluation)
    moved = relative(figure.read(before), value) if before is not None else None
    text = quantity(value, figure.dimension)
    if value is not None and figure.dimension in _IN_HEAD:
        text = text.partition(" ")[0]
    return bracketed(text, value, tone=figure.tone(moved), change=change(moved))
