"""`python -m sglang.bench_serving`: JSON Lines of `--output-file`, one result a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Run
from planner.measurements.content import Content
from planner.measurements.formats.vllm_serve import load_of, observations_of, unusable_of
from planner.measurements.values import dig, hub_name, needed, number, whole, word

TITLE = "sglang.bench_serving (JSON Lines)"
LATENCIES = {
    "ttft": "time_to_first_token",
    "tpot": "time_per_output_token",
    "itl": "inter_token_latency",
    "e2e_latency": "request_latency",
}


def matches(content: Content) -> bool:
    first = content.object
    return "request_throughput" in first and "mean_e2e_latency_ms" in first and "dataset_name" in first


def read(content: Content) -> Measurement:
    runs = tuple(_run(item, f"line {index}") for index, item in enumerate(content.objects, 1))
    return Measurement(content.name, "sglang.bench_serving", runs)


def _run(item: Mapping[str, Any], where: str) -> Run:
    requests = int(needed(whole(item, "completed"), "number of completed requests (`completed`)"))
    return Run(
        where,
        load_of(item, requests),
        needed(number(item, "total_input_tokens"), "total_input_tokens") / requests,
        needed(number(item, "total_output_tokens"), "total_output_tokens") / requests,
        observations_of(item, LATENCIES),
        _subject(item),
        unusable_of(item, requests),
    )


def _subject(item: Mapping[str, Any]) -> Subject:
    """What an SGLang server said of itself; servers of other engines say nothing."""
    server = dig(item, "server_info")
    tensor = whole(server, "tp_size")
    if tensor is None:
        return Subject()
    return Subject(
        model=hub_name(word(server, "model_path")),
        engine="sglang",
        version=word(server, "version"),
        tensor_parallel_size=tensor,
        pipeline_parallel_size=whole(server, "pp_size"),
    )
