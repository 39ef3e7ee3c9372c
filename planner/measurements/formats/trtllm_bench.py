"""`trtllm-bench`: JSON of `--report_json`, and the report that it prints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run, observed, statistics
from planner.measurements.content import Content
from planner.measurements.values import closed_loop, dig, hub_name, needed, number, whole, word

TITLE = "trtllm-bench (JSON, printed report)"
STATISTICS = {"mean": "average", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "max": "maximum"}
WEIGHTS = {"FP8": "fp8", "NVFP4": "nvfp4", "W4A16_AWQ": "awq-int4", "W4A16_GPTQ": "gptq-int4", "INT8": "int8"}
CACHES = {"FP8": "fp8", "INT8": "int8", "NVFP4": "nvfp4"}
LINE = re.compile(r"^(?P<key>[A-Za-z][^:\n]{1,60}?)\s*:[ \t]*(?P<value>\S[^\n]{0,200})$", re.MULTILINE)
BREAKDOWN = re.compile(r"^\[(?P<of>TPOT|TTFT|Latency)\] (?P<name>[A-Z0-9]+)\s*: (?P<value>[0-9.]+)", re.MULTILINE)
MOST_TEXT = 1 << 20


def matches(content: Content) -> bool:
    if "world_info" in content.object and "performance" in content.object:
        return True
    return "= PERFORMANCE OVERVIEW" in content.text and "Request Throughput (req/sec)" in content.text


def read(content: Content) -> Measurement:
    found = content.object or _of_report(content.text)
    requests = int(needed(whole(found, "request_info", "num_requests"), "number of requests"))
    together = needed(number(found, "request_info", "avg_num_concurrent_requests"), "number of concurrent requests")
    run = Run(
        "result",
        closed_loop(min(max(round(together), 1), requests), requests),
        needed(number(found, "request_info", "avg_input_length"), "average input length"),
        needed(number(found, "request_info", "avg_output_length"), "average output length"),
        _observations(found),
    )
    tool = f"trtllm-bench {word(found, 'engine', 'version')}".strip()
    return Measurement(content.name, tool, (run,), _subject(found))


def _observations(found: Mapping[str, Any]) -> tuple[Observation, ...]:
    performance, streaming = dig(found, "performance"), dig(found, "streaming_metrics")
    seen = observed(
        (
            ("output_tokens_per_second", "", number(performance, "system_output_throughput_tok_s")),
            ("requests_per_second", "", number(performance, "request_throughput_req_s")),
        )
    )
    for figure, node in (
        ("time_to_first_token", dig(streaming, "ttft_percentiles")),
        ("time_per_output_token", dig(streaming, "tpot_percentiles")),
        ("request_latency", dig(performance, "request_latency_percentiles_ms")),
    ):
        seen += statistics(figure, {name: number(node, key) for name, key in STATISTICS.items()}, 1e-3)
    return seen


def _subject(found: Mapping[str, Any]) -> Subject:
    engine, world = dig(found, "engine"), dig(found, "world_info")
    return Subject(
        model=hub_name(word(engine, "model")),
        weights=WEIGHTS.get(word(engine, "quantization"), ""),
        cache=CACHES.get(word(engine, "kv_cache_dtype"), ""),
        engine="tensorrt-llm",
        version=word(engine, "version"),
        tensor_parallel_size=whole(world, "tp_size"),
        pipeline_parallel_size=whole(world, "pp_size"),
        expert_parallel_size=whole(world, "ep_size"),
    )


def _of_report(text: str) -> Mapping[str, Any]:
    """The printed report under the names of the JSON."""
    lines = {match["key"].strip(): match["value"].strip() for match in LINE.finditer(text[:MOST_TEXT])}
    parts: dict[str, dict[str, str]] = {"TPOT": {}, "TTFT": {}, "Latency": {}}
    for match in BREAKDOWN.finditer(text[:MOST_TEXT]):
        parts[match["of"]][match["name"].lower()] = match["value"]
    return {
        "engine": {
            "model": lines.get("Model"),
            "version": lines.get("TensorRT LLM Version", lines.get("TensorRT-LLM Version")),
            "quantization": lines.get("Quantization"),
            "kv_cache_dtype": lines.get("KV Cache Dtype"),
        },
        "world_info": {f"{name}_size": lines.get(f"{name.upper()} Size") for name in ("tp", "pp", "ep")},
        "request_info": {
            "num_requests": lines.get("Number of requests"),
            "avg_num_concurrent_requests": lines.get("Number of concurrent requests"),
            "avg_input_length": lines.get("Average Input Length (tokens)"),
            "avg_output_length": lines.get("Average Output Length (tokens)"),
        },
        "performance": {
            "request_throughput_req_s": lines.get("Request Throughput (req/sec)"),
            "system_output_throughput_tok_s": lines.get("Total Output Throughput (tokens/sec)"),
            "request_latency_percentiles_ms": parts["Latency"],
        },
        "streaming_metrics": {"ttft_percentiles": parts["TTFT"], "tpot_percentiles": parts["TPOT"]},
    }
