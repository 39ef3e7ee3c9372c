"""Start-up log of SGLang: weights, the cache's memory and tokens, captured graphs. It prints GB and means GiB."""

from __future__ import annotations

import re

from planner.domain.calibration import MeasuredMemory, Subject
from planner.domain.measurement import Measurement
from planner.measurements.content import Content
from planner.measurements.formats._log import count, found, gib
from planner.measurements.values import hub_name

TITLE = "start-up log of SGLang"
N = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
# Printed while the pool is made (K and V apart, or one size); since 0.5.23 after the capture of graphs in some cases.
ALLOCATED = r"KV [Cc]ache (?:is )?allocated\.[^\n]{0,200}?"
PATTERNS = {
    "weights": re.compile(rf"Load weight end\.[^\n]{{0,600}}?mem usage={N} GB"),
    "tokens": re.compile(rf"{ALLOCATED}#tokens: ([0-9]{{1,15}})"),
    "pool": re.compile(rf"{ALLOCATED}size: {N} GB"),
    "keys": re.compile(rf"{ALLOCATED}\bK size: {N} GB"),
    "values": re.compile(rf"{ALLOCATED}\bV size: {N} GB"),
    "graphs": re.compile(rf"Capture [a-z ]{{0,40}}(?:cuda|CUDA) graph end\.[^\n]{{0,400}}?mem usage={N} GB"),
    "total": re.compile(r"max_total_num_tokens=([0-9]{1,15})"),
    "running": re.compile(r"max_running_requests=([0-9]{1,9})"),
    "length": re.compile(r"\bcontext_len=([0-9]{1,9})"),
    "model": re.compile(r"server_args=ServerArgs\(model_path='([^']{1,200})'"),
    "tensor": re.compile(r"\btp_size=([0-9]{1,6})\b"),
    "fraction": re.compile(r"\bmem_fraction_static=(0?\.[0-9]{1,6})"),
}


def matches(content: Content) -> bool:
    head = content.text[: 4 << 20]
    return (
        "KV Cache is allocated." in head
        or "KV cache allocated." in head
        or ("max_total_num_tokens=" in head and "max_running_requests=" in head)
    )


def read(content: Content) -> Measurement:
    seen = found(content.lines, PATTERNS)
    tokens = count(seen.get("tokens")) or count(seen.get("total"))
    parts = [gib(seen.get(name)) for name in ("keys", "values")]
    both = sum(part for part in parts if part is not None) if None not in parts else None
    memory = MeasuredMemory(
        weights_bytes=gib(seen.get("weights")),
        pool_bytes=both if both is not None else gib(seen.get("pool")),
        pool_tokens=float(tokens) if tokens is not None else None,
        graph_bytes=gib(seen.get("graphs")),
        max_model_len=count(seen.get("length")),
        max_num_seqs=count(seen.get("running")),
        fraction=float(seen["fraction"][0]) if "fraction" in seen else None,
    )
    subject = Subject(
        model=hub_name(seen.get("model", ("",))[0]),
        engine="sglang",
        tensor_parallel_size=count(seen.get("tensor")),
    )
    return Measurement(content.name, "sglang", subject=subject, memory=memory)
