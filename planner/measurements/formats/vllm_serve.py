"""`vllm bench serve` and vLLM's benchmark_serving.py: JSON of `--save-result`, one object, or one a line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run, observed, statistics
from planner.domain.workload import Load
from planner.measurements.content import Content
from planner.measurements.values import closed_loop, dig, hub_name, needed, number, open_loop, whole, word

TITLE = "vllm bench serve (JSON)"
LATENCIES = {
    "ttft": "time_to_first_token",
    "tpot": "time_per_output_token",
    "itl": "inter_token_latency",
    "e2el": "request_latency",
}
STATISTICS = {"mean": "mean", "median": "p50", "p90": "p90", "p95": "p95", "p99": "p99"}


def matches(content: Content) -> bool:
    first = content.object
    return "request_throughput" in first and "num_prompts" in first and "total_token_throughput" in first


def read(content: Content) -> Measurement:
    runs = tuple(_run(item, f"result {index}") for index, item in enumerate(content.objects, 1))
    stamps = [word(item, "date") for item in content.objects]
    model = hub_name(word(content.object, "model_id"))
    return Measurement(content.name, "vllm bench serve", runs, Subject(model=model), date=max(map(_day, stamps)))


def _day(stamp: str) -> str:
    """ "20261130-084106" -> "2026-11-30"."""
    digits = stamp[:8]
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if len(digits) == 8 and digits.isdecimal() else ""


def _run(item: Mapping[str, Any], where: str) -> Run:
    completed = whole(item, "completed")
    requests = needed(completed, "number of completed requests (`completed`)")
    size = whole(item, "tensor_parallel_size") or whole(item, "tp")  # free `--metadata` of whoever ran it
    return Run(
        where,
        load_of(item, int(requests)),
        needed(number(item, "total_input_tokens"), "total_input_tokens") / requests,
        needed(number(item, "total_output_tokens"), "total_output_tokens") / requests,
        observations_of(item, LATENCIES),
        Subject(tensor_parallel_size=size),
        unusable_of(item, requests),
    )


def load_of(item: Mapping[str, Any], requests: int) -> Load:
    """Closed loop where arrivals are not held back; all at once where nothing is."""
    rate, most = number(item, "request_rate"), number(item, "max_concurrency")
    if rate is None:
        return closed_loop(min(most or requests, requests), requests)
    burstiness = number(item, "burstiness") or 1.0
    return open_loop(rate, requests, 1.0 if burstiness == 1.0 else 1.0 / math.sqrt(burstiness))


def observations_of(item: Mapping[str, Any], names: Mapping[str, str]) -> tuple[Observation, ...]:
    """Latencies in milliseconds under `<statistic>_<name>_ms`, and the throughput."""
    found: tuple[Observation, ...] = ()
    for name, figure in names.items():
        values = {word_: number(item, f"{prefix}_{name}_ms") for prefix, word_ in STATISTICS.items()}
        found += statistics(figure, values, 1e-3)
    rates = (("output_tokens_per_second", "", number(item, "output_throughput")),)
    return found + observed((*rates, ("requests_per_second", "", number(item, "request_throughput"))))


def unusable_of(item: Mapping[str, Any], requests: float) -> str:
    failed = number(item, "failed") or 0.0
    if failed > 0.01 * (failed + requests):
        return f"{failed:g} of {failed + requests:g} requests failed"
    if number(item, "request_rate") is not None and number(item, "max_concurrency") is not None:
        return "a rate and a largest concurrency at once: neither is the load"
    if dig(item, "ramp_up_strategy"):
        return "the rate was ramped up"
    return ""
