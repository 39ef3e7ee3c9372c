"""A sweep for people at a terminal: a line a rate, over all seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planner import format as printed
from planner.output import Options
from planner.output.text import render as judged
from planner.simulate.sweep import Row, Sweep

HEADS = ("rate", "seeds", "TTFT p50", "TTFT p95", "TTFT p99", "TPOT p95", "within limits", "rejected", "queue")


def as_text(sweep: Sweep, rows: Sequence[Row], options: Options) -> str:
    """The table; the findings instead of it where the spec cannot be run."""
    if sweep.plan is None:
        return judged([sweep.judgement], options)
    limits = bool(sweep.plan.objectives.limits)
    rates = dict.fromkeys(item["rate_per_s"] for item in rows)
    table = [HEADS, *(_line([item for item in rows if item["rate_per_s"] == rate], limits) for rate in rates)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEADS))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
    failed = dict.fromkeys(str(item["reason"]) for item in rows if item["reason"])
    lines += [f"not run: {reason}" for reason in failed]
    if any(len([item for item in rows if item["rate_per_s"] == rate]) > 1 for rate in rates):
        lines.append("means over the seeds; in brackets the smallest and the largest")
    return "".join(f"{line}\n" for line in lines)


def _line(rows: Sequence[Row], limits: bool) -> tuple[str, ...]:
    """One rate. A seed whose queue grows has no latency, and neither has the mean then."""
    runs = [item["run"] for item in rows if item["run"] is not None]
    rate = rows[0]["rate_per_s"]
    grows = sum(1 for run in runs if run["overloaded"])
    latency = [_latency(runs, "time_to_first_token_s", name) for name in ("p50", "p95", "p99")]
    good: Callable[[Mapping[str, Any]], float] = lambda run: float(run["throughput"]["goodput_fraction"])  # noqa: E731
    return (
        "declared" if rate is None else printed.significant(rate),
        str(len(rows)),
        *latency,
        _latency(runs, "time_per_output_token_s", "p95"),
        _spread([good(run) for run in runs], printed.percent) if limits and not grows else printed.NOT_AVAILABLE,
        _spread([run["rejected"]["fraction"] for run in runs], printed.percent),
        "" if not grows else "grows" if grows == len(runs) else f"grows in {grows} of {len(runs)}",
    )


def _latency(runs: Sequence[Mapping[str, Any]], key: str, statistic: str) -> str:
    values = [run["latency"][key][statistic] for run in runs]
    return printed.NOT_AVAILABLE if any(value is None for value in values) else _spread(values, printed.duration)


def _spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    """The mean, and between what the values lie."""
    if not values:
        return printed.NOT_AVAILABLE
    mean = text(math.fsum(values) / len(values))
    low, high = text(min(values)), text(max(values))
    return mean if low == high else f"{mean} ({low} to {high})"
