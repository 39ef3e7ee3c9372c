"""The `subject` section of a Measurement or a Calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from planner.domain.calibration import MeasuredMemory, Size, Subject
from planner.units import si

BYTES = {"weights": "weights_bytes", "kv_pool": "pool_bytes", "cuda_graphs": "graph_bytes"}
LIMITS = ("max_model_len", "max_num_seqs", "max_num_batched_tokens")


def subject(section: Mapping[str, Any]) -> Subject:
    """What is stated; a list of one size is that size."""
    known = {item.name for item in fields(Subject)}
    stated: dict[str, Any] = {key: value for key, value in section.items() if key in known}
    stated.update((key, _size(value)) for key, value in section.items() if key.endswith("_size"))
    return Subject(**stated)


def _size(value: Any) -> Size:
    sizes = tuple(sorted({int(item) for item in value})) if isinstance(value, list) else (int(value),)
    return sizes if len(sizes) > 1 else sizes[0]


def memory(section: Mapping[str, Any]) -> MeasuredMemory:
    """What a start-up log said, in bytes and tokens."""
    held: dict[str, Any] = {name: si(section[key], "memory") for key, name in BYTES.items() if key in section}
    limits: dict[str, Any] = {key: int(section[key]) for key in LIMITS if key in section}
    return MeasuredMemory(
        pool_tokens=float(section["kv_tokens"]) if "kv_tokens" in section else None,
        fraction=si(section["memory_fraction"], "share") if "memory_fraction" in section else None,
        **held,
        **limits,
    )
