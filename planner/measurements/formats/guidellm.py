"""GuideLLM: the JSON report, one run for every benchmark in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run, observed, statistics
from planner.domain.workload import Load
from planner.measurements.content import Content, UnreadableError
from planner.measurements.values import closed_loop, dig, hub_name, needed, number, open_loop, whole, word

TITLE = "guidellm (JSON)"
LATENCIES = {
    "time_to_first_token_ms": ("time_to_first_token", 1e-3),
    "inter_token_latency_ms": ("time_per_output_token", 1e-3),  # the mean gap of each request, over requests
    "request_latency": ("request_latency", 1.0),
}
PERCENTILES = ("p50", "p90", "p95", "p99")


def matches(content: Content) -> bool:
    first = dig(content.object, "benchmarks")
    return isinstance(first, list) and any("time_to_first_token_ms" in (dig(item, "metrics") or {}) for item in first)


def read(content: Content) -> Measurement:
    items = [item for item in content.object["benchmarks"] if isinstance(item, Mapping)]
    runs = tuple(_run(content.object, item, f"benchmark {index}") for index, item in enumerate(items, 1))
    version = word(content.object, "metadata", "guidellm_version")
    model = hub_name(word(items[0], "config", "backend", "model") or word(items[0], "worker", "backend_model"))
    date = max((_day(number(item, "end_time")) for item in items), default="")
    return Measurement(content.name, f"guidellm {version}".strip(), runs, Subject(model=model), date=date)


def _day(seconds: float | None) -> str:
    """Of seconds since 1970."""
    try:
        return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


def _run(report: Mapping[str, Any], item: Mapping[str, Any], where: str) -> Run:
    metrics = item.get("metrics")
    totals = dig(metrics, "request_totals")
    done, failed = whole(totals, "successful"), whole(totals, "errored") or 0
    requests = int(needed(done, "number of successful requests"))
    found: tuple[Observation, ...] = ()
    for key, (figure, scale) in LATENCIES.items():
        seen = dig(metrics, key, "successful")
        values = {"mean": number(seen, "mean"), **{name: number(seen, "percentiles", name) for name in PERCENTILES}}
        found += statistics(figure, values, scale)
    rates = {"output_tokens_per_second": "output_tokens_per_second", "requests_per_second": "requests_per_second"}
    found += observed((name, "", number(metrics, key, "successful", "mean")) for name, key in rates.items())
    unusable = f"{failed} of {failed + requests} requests failed" if failed > 0.01 * (failed + requests) else ""
    prompt, output = (_tokens(report, metrics, name) for name in ("prompt", "output"))
    return Run(where, _load(item, requests), prompt, output, found, unusable=unusable)


def _tokens(report: Mapping[str, Any], metrics: Any, name: str) -> float:
    """Mean as counted; where the server counted none, as was asked for."""
    data = dig(report, "config", "spec", "data")
    asked = number(data[0], f"{name}_tokens") if isinstance(data, list) and data else None
    return needed(number(metrics, f"{name}_token_count", "successful", "mean") or asked, f"{name} tokens")


def _load(item: Mapping[str, Any], requests: int) -> Load:
    strategy = dig(item, "config", "strategy") or dig(item, "args", "strategy")
    kind = word(strategy, "type_")
    rate = number(strategy, "rate")
    if kind == "synchronous":
        return closed_loop(1, requests)
    if kind == "concurrent":
        return closed_loop(needed(number(strategy, "streams"), "number of streams"), requests)
    if kind == "throughput":
        return closed_loop(number(strategy, "max_concurrency") or requests, requests)
    if kind in ("constant", "poisson", "async") and rate is not None:
        return open_loop(rate, requests, 1.0 if kind == "poisson" else 0.0)
    raise UnreadableError(f"has a benchmark of strategy {kind or 'none'!r}, whose load is not known")
