"""Settings of a serving engine: what the spec declares, and what the engine's version fills in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Engine keys under their common names. None: not declared (before defaults are taken).

    memory_fraction: `gpu_memory_utilization`, `mem_fraction_static` or `free_gpu_memory_fraction`: what it
    is a share of is the engine module's business. routing: over replicas and data-parallel ranks.
    max_num_seqs and max_num_batched_tokens: per data-parallel rank; max_model_len: per sequence.
    origins: {key: "spec" | "default" | "lever"}. arguments: flags that the planner does not model.
    """

    name: str
    version: str | None = None
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    data_parallel_size: int = 1
    expert_parallel_size: int = 1
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    block_size: int | None = None
    num_gpu_blocks_override: int | None = None
    kv_cache_dtype: str | None = None
    enforce_eager: bool | None = None
    enable_chunked_prefill: bool | None = None
    enable_prefix_caching: bool | None = None
    memory_fraction: float | None = None
    gpu_layers: int | None = None
    use_v1: bool | None = None
    max_loras: int | None = None
    max_lora_rank: int | None = None
    limit_mm_per_prompt: Mapping[str, int] = field(default_factory=dict)
    mm_processor_kwargs: Mapping[str, Any] = field(default_factory=dict)
    admission: str | None = None
    routing: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def world_size(self) -> int:
        """Accelerators that one replica needs: tensor x pipeline x data."""
        return self.tensor_parallel_size * self.pipeline_parallel_size * self.data_parallel_size

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers, () where none is declared: "0.11.0rc2" -> (0, 11, 0)."""
        numbers: list[int] = []
        for part in (self.version or "").lstrip("v").split("."):
            digits = ""
            for character in part:
                if character not in "0123456789":
                    break
                digits += character
            if not digits:
                break
            numbers.append(int(digits))
            if digits != part:
                break
        return tuple(numbers)
