"""The `engine` section to settings under common names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner import engines, units
from planner.domain.engine import EngineSettings

_COUNTS = (
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "data_parallel_size",
    "max_model_len",
    "max_num_seqs",
    "max_num_batched_tokens",
    "block_size",
    "num_gpu_blocks_override",
    "max_loras",
    "max_lora_rank",
    "gpu_layers",
)
_AS_THEY_ARE = (
    "kv_cache_dtype",
    "enforce_eager",
    "enable_chunked_prefill",
    "enable_prefix_caching",
    "use_v1",
    "admission",
    "routing",
)


def settings(section: Mapping[str, Any], count: int) -> EngineSettings:
    """Keys as declared; tensor parallelism left out takes the accelerators that nothing else takes."""
    name = str(section["name"])
    values: dict[str, Any] = {key: int(section[key]) for key in _COUNTS if section.get(key) is not None}
    values.update({key: section[key] for key in _AS_THEY_ARE if section.get(key) is not None})
    expert = section.get("expert_parallel_size")
    if expert is not None:
        values["expert_parallel_size"] = int(expert)
    module = engines.get(name)
    fraction = getattr(module, "FRACTION_KEY", None)
    if fraction and section.get(fraction) is not None:
        values["memory_fraction"] = units.si(section[fraction], "positive-share")
    origins = dict.fromkeys(values, "spec")
    if "tensor_parallel_size" not in values:
        values["tensor_parallel_size"] = _left_over(values, count, name)
        origins["tensor_parallel_size"] = "default"
    return EngineSettings(
        name=name,
        version=section.get("version"),
        limit_mm_per_prompt=section.get("limit_mm_per_prompt") or {},
        mm_processor_kwargs=section.get("mm_processor_kwargs") or {},
        arguments=section.get("args") or {},
        origins=origins,
        **values,
    )


def _left_over(values: Mapping[str, Any], count: int, name: str) -> int:
    """`count` over pipeline x data for the engine `ideal`, else 1: a real engine uses what it is told to.

    llama.cpp splits by layers over every card: its pipeline is the count, which its engine module knows.
    """
    others = int(values.get("pipeline_parallel_size", 1)) * int(values.get("data_parallel_size", 1))
    if name == "ideal" and count % others == 0:
        return count // others
    return 1
