"""Start-up log of vLLM: weights, memory of the cache, tokens that it holds, captured graphs."""

from __future__ import annotations

import re

from planner.domain.calibration import MeasuredMemory, Subject
from planner.domain.measurement import Measurement
from planner.measurements.content import Content
from planner.measurements.formats._log import count, found, gib
from planner.measurements.values import hub_name

TITLE = "start-up log of vLLM"
N = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
W = r"([0-9][0-9,]{0,20})"
PATTERNS = {
    "weights": re.compile(rf"(?:Model loading took|[Ll]oading model weights took) {N} (?:GiB|GB)"),
    "pool": re.compile(rf"Available KV cache memory: {N} (?:GiB|GB)"),
    "tokens": re.compile(rf"\b[A-Za-z+ ]{{3,20}} KV cache size: {W} tokens"),
    "length": re.compile(rf"Maximum concurrency for {W} tokens per request"),
    "blocks": re.compile(rf"# (?:GPU|cuda) blocks: {W}"),
    "graphs": re.compile(rf"Graph capturing finished in [0-9]{{1,6}} secs?, took {N} (?:GiB|GB)"),
    "version": re.compile(r"LLM engine \(v([0-9A-Za-z.+]{1,40})\)"),
    "model": re.compile(r"\bmodel='([^']{1,200})'"),
    "tensor": re.compile(r"\btensor_parallel_size=([0-9]{1,6})\b"),
    "pipeline": re.compile(r"\bpipeline_parallel_size=([0-9]{1,6})\b"),
    "max_model_len": re.compile(r"\bmax_(?:seq|model)_len=([0-9]{1,9})\b"),
    "fraction": re.compile(r"\bgpu_memory_utilization['\"]?[=:] ?(0?\.[0-9]{1,6}|1\.0)"),
}
BLOCK = 16


def matches(content: Content) -> bool:
    head = content.text[: 4 << 20]
    return " KV cache size: " in head or "# GPU blocks: " in head or "# cuda blocks: " in head


def read(content: Content) -> Measurement:
    seen = found(content.lines, PATTERNS)
    blocks, tokens = count(seen.get("blocks")), count(seen.get("tokens"))
    if tokens is None and blocks is not None:
        tokens = blocks * BLOCK  # the block size of every release that printed blocks, unless it was set
    version = seen.get("version", ("",))[0]
    memory = MeasuredMemory(
        weights_bytes=gib(seen.get("weights")),
        pool_bytes=gib(seen.get("pool")),
        pool_tokens=float(tokens) if tokens is not None else None,
        graph_bytes=gib(seen.get("graphs")),
        max_model_len=count(seen.get("length")) or count(seen.get("max_model_len")),
        fraction=float(seen["fraction"][0]) if "fraction" in seen else None,
    )
    subject = Subject(
        model=hub_name(seen.get("model", ("",))[0]),
        engine="vllm",
        version=version,
        tensor_parallel_size=count(seen.get("tensor")),
        pipeline_parallel_size=count(seen.get("pipeline")),
    )
    return Measurement(content.name, f"vllm {version}".strip(), subject=subject, memory=memory)
