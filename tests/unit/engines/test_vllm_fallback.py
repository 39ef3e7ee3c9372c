"""What falls back to vLLM's older engine generation, version by version, as its source distributions have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from planner.domain.plan import Plan
from planner.engines import _vllm_generation, vllm

MakePlan = Callable[..., Plan]
ADA: dict[str, Any] = {"compute_capability": "8.9"}
HOPPER: dict[str, Any] = {"compute_capability": "9.0"}
TURING: dict[str, Any] = {"compute_capability": "7.5"}


@pytest.mark.parametrize(
    ("version", "card", "settings", "cache", "generation"),
    [
        ("0.8.0", ADA, {}, None, 1),
        ("0.8.0", ADA, {"pipeline_parallel_size": 2}, None, 0),
        ("0.9.0", ADA, {"pipeline_parallel_size": 2}, None, 1),
        ("0.8.0", ADA, {"max_loras": 1}, None, 0),
        ("0.8.5", ADA, {"max_loras": 1}, None, 1),
        ("0.8.0", HOPPER, {}, "fp8", 0),  # any quantised cache
        ("0.8.5", HOPPER, {}, "fp8", 1),  # FlashAttention 3 reads it on Hopper
        ("0.9.2", ADA, {}, "fp8", 0),
        ("0.10.2", ADA, {}, "fp8", 0),
        ("0.11.0", ADA, {}, "fp8", 1),  # the older generation is gone
        ("0.10.1", TURING, {}, None, 0),
        ("0.10.2", TURING, {}, None, 1),
    ],
)
def test_generation(
    make_plan: MakePlan,
    version: str,
    card: dict[str, Any],
    settings: dict[str, Any],
    cache: str | None,
    generation: int,
) -> None:
    plan = make_plan("llama-3.1-8b", "vllm", 79.11, count=2, card=card, cache_format=cache, version=version, **settings)
    assert _vllm_generation.of_plan(plan)["engine_generation"] == generation


@pytest.mark.parametrize(
    ("version", "card", "settings", "chunked"),
    [
        ("0.6.6", ADA, {"max_model_len": 65536}, True),
        ("0.6.6", ADA, {"max_model_len": 32768}, False),
        ("0.6.6", ADA, {"max_model_len": 65536, "max_loras": 1}, False),
        ("0.6.6", {"vendor": "AMD"}, {"max_model_len": 65536}, False),
        ("0.6.3", {"vendor": "AMD"}, {"max_model_len": 65536}, True),
        ("0.6.6", {"compute_capability": "7.0"}, {"max_model_len": 65536}, False),
    ],
)
def test_long_prompts_are_chunked(
    make_plan: MakePlan, version: str, card: dict[str, Any], settings: dict[str, Any], chunked: bool
) -> None:
    plan = make_plan("llama-3.1-8b", "vllm", 79.11, card=card, version=version, **settings)
    plan = replace(plan, engine=replace(plan.engine, enable_chunked_prefill=None, max_num_batched_tokens=None))
    plan = replace(plan, techniques=replace(plan.techniques, chunked_prefill=False))
    assert vllm.with_defaults(plan).enable_chunked_prefill is chunked


def test_a_longer_context_may_start_where_a_shorter_one_does_not(make_plan: MakePlan) -> None:
    # https://github.com/vllm-project/vllm/issues/10517: RTX 3090, 20,000 tokens start, 29,000 do not, 35,000 do again.
    # Whole prompts to 32,768 tokens: 20,000 x (3 x 14,336 + 3 x 4096) x 2 bytes = 2.06 GiB, 29,000: 2.99 GiB.
    def starts(length: int) -> bool:
        plan = make_plan("llama-3.1-8b", "vllm", 23.58, card=ADA, version="0.6.4", max_model_len=length)
        return vllm.memory(plan).memory.fits

    assert [starts(length) for length in (20000, 29000, 35000)] == [True, False, True]
