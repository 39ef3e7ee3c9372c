"""What an engine guarantees: each sequence at its promised maximum, shared beginnings not counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner import engines
from planner.domain.plan import Plan
from planner.domain.workload import Prefix

MakePlan = Callable[..., Plan]
ENGINES = sorted(set(engines.names()))


@pytest.mark.parametrize("engine", ENGINES)
def test_prefix_sharing_never_counts(make_plan: MakePlan, engine: str) -> None:
    plan = make_plan("llama-3.1-8b", engine, 79.11, prompt=4000, output=96, max_model_len=4096)
    shared = tuple(replace(item, prefix=Prefix(shared_tokens=3968.0)) for item in plan.workload.classes)
    rated = tuple(replace(item, prefix=Prefix(hit_rate=0.95)) for item in plan.workload.classes)
    alone = engines.get(engine).memory(plan)
    for classes in (shared, rated):
        found = engines.get(engine).memory(replace(plan, workload=replace(plan.workload, classes=classes)))
        assert found.guaranteed_concurrency == alone.guaranteed_concurrency
        assert found.expected_concurrency == alone.expected_concurrency
        assert found.memory.kv_cache_bytes == alone.memory.kv_cache_bytes


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_on_average_more_run_than_are_guaranteed(make_plan: MakePlan, engine: str) -> None:
    # Halfway through an answer of 2000 tokens a sequence of 1000 + 2000 holds 2000: half as many again.
    plan = make_plan("llama-3.1-8b", engine, 79.11, prompt=1000, output=2000, max_model_len=4096)
    found = engines.get(engine).memory(plan)
    assert found.guaranteed_concurrency is not None and found.expected_concurrency is not None
    assert found.expected_concurrency / found.guaranteed_concurrency == pytest.approx(1.5, rel=0.01)
