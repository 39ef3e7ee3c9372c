"""AIPerf and GenAI-Perf: `profile_export_*.json`, and the CSV beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run, observed, statistics
from planner.domain.workload import Load
from planner.measurements.content import Content, UnreadableError
from planner.measurements.values import closed_loop, dig, hub_name, needed, number, open_loop, whole, word

TITLE = "AIPerf and GenAI-Perf (JSON, CSV)"
LATENCIES = {
    "time_to_first_token": "time_to_first_token",
    "inter_token_latency": "time_per_output_token",  # a request's mean gap, over requests
    "request_latency": "request_latency",
}
STATISTICS = {"mean": "avg", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "max": "max"}
UNITS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "us": 1e-6, "ns": 1e-9}
ROWS = {
    "Time to First Token": "time_to_first_token",
    "Time To First Token": "time_to_first_token",
    "Inter Token Latency": "inter_token_latency",
    "Request Latency": "request_latency",
    "Input Sequence Length": "input_sequence_length",
    "Output Sequence Length": "output_sequence_length",
    "Output Token Throughput": "output_token_throughput",
    "Request Throughput": "request_throughput",
    "Request Count": "request_count",
}


def matches(content: Content) -> bool:
    if "request_latency" in content.object and "input_config" in content.object:
        return True
    return bool(content.rows) and content.rows[0][:2] == ["Metric", "avg"]


def read(content: Content) -> Measurement:
    if not content.object:
        raise UnreadableError("states no load: give the JSON file that was written beside it")
    found = content.object
    asked = dig(found, "input_config")
    version = word(found, "aiperf_version")
    tool = f"aiperf {version}" if version else "genai-perf"
    model = hub_name(_model(asked))
    date = word(found, "telemetry_data", "summary", "start_time")[:10] or word(found, "start_time")[:10]
    return Measurement(content.name, tool, (_run(found, asked),), Subject(model=model), date=date)


def _model(asked: Any) -> str:
    items = dig(asked, "models", "items")
    if isinstance(items, list) and items:
        return word(items[0], "name")
    names = dig(asked, "model_names") or dig(asked, "endpoint", "model_names")
    return names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""


def _run(found: Mapping[str, Any], asked: Any) -> Run:
    seen: tuple[Observation, ...] = ()
    for key, figure in LATENCIES.items():
        scale = UNITS.get(word(found, key, "unit"), 0.0)
        values = {name: number(found, key, column) for name, column in STATISTICS.items()}
        seen += statistics(figure, values, scale) if scale else ()
    seen += observed(
        (
            ("output_tokens_per_second", "", number(found, "output_token_throughput", "avg")),
            ("requests_per_second", "", number(found, "request_throughput", "avg")),
        )
    )
    # AIPerf sends so many requests and stops; perf_analyzer counts those of a window of a load that goes on.
    requests = whole(found, "request_count", "avg") if "aiperf_version" in found else None
    prompt = needed(number(found, "input_sequence_length", "avg"), "input_sequence_length")
    output = needed(number(found, "output_sequence_length", "avg"), "output_sequence_length")
    failed = number(found, "error_request_count", "avg") or 0.0
    unusable = f"{failed:g} requests failed" if failed > 0.01 * (failed + (requests or 1)) else ""
    return Run("result", _load(asked, requests), prompt, output, seen, unusable=unusable)


def _load(asked: Any, requests: int | None) -> Load:
    """Of AIPerf: its profiling phase. Of earlier ones: the load generator, or the stimulus."""
    phases = dig(asked, "phases")
    items = [item for item in phases if dig(item, "kind") != "warmup"] if isinstance(phases, list) else []
    for item in (*items, dig(asked, "loadgen"), dig(asked, "perf_analyzer", "stimulus"), asked):
        rate = number(item, "rate") or number(item, "request_rate")
        if rate is not None:
            pattern = word(item, "type") or word(item, "request_rate_mode") or word(item, "arrival_pattern")
            return open_loop(rate, requests, 1.0 if "poisson" in pattern else 0.0)
        concurrency = number(item, "concurrency")
        if concurrency is not None:
            return closed_loop(concurrency, requests)
    raise UnreadableError("states neither a concurrency nor a rate")
