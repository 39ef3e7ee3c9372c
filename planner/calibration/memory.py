"""What start-up logs said of memory, as the `memory` section of a Calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.domain.calibration import MeasuredMemory
from planner.domain.measurement import Measurement

GIB = 2.0**30
BYTES = {"weights": "weights_bytes", "kv_pool": "pool_bytes", "cuda_graphs": "graph_bytes"}
COUNTS = {"kv_tokens": "pool_tokens"}
LIMITS = ("max_model_len", "max_num_seqs", "max_num_batched_tokens")


def measured_memory(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Of the last measurement that has any; {} where none has."""
    found = [item.memory for item in measurements if item.memory is not None]
    return _section(found[-1]) if found else {}


def _section(found: MeasuredMemory) -> dict[str, Any]:
    section: dict[str, Any] = {}
    for key, name in BYTES.items():
        value = getattr(found, name)
        if value is not None:
            section[key] = f"{round(value / GIB, 4):g} GiB"
    for key, name in COUNTS.items():
        value = getattr(found, name)
        if value is not None:
            section[key] = int(value)
    section.update((key, getattr(found, key)) for key in LIMITS if getattr(found, key) is not None)
    if found.fraction is not None:
        section["memory_fraction"] = found.fraction
    return section
