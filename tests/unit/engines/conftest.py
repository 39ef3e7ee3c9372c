"""Plans of published models, built without a spec: `make_plan(QWEN2_7B, "vllm", ...)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from planner import engines
from planner.architectures.config import read_config
from planner.domain.accelerator import Accelerator, Hardware, Interconnect
from planner.domain.engine import EngineSettings
from planner.domain.levers import Techniques
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.domain.workload import Length, Load, Objectives, RequestClass, Workload

GIB = 2**30

CONFIGS: dict[str, dict[str, Any]] = {
    "qwen2-7b": {
        "model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
        "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "torch_dtype": "bfloat16",
        "max_position_embeddings": 131072, "tie_word_embeddings": False,
    },
    "llama-3.1-8b": {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16",
        "max_position_embeddings": 131072, "tie_word_embeddings": False,
    },
    "llama-2-7b": {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 32000, "torch_dtype": "float16",
        "max_position_embeddings": 4096, "tie_word_embeddings": False,
    },
    "llama-2-70b": {
        "model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64,
        "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 32000, "torch_dtype": "float16",
        "max_position_embeddings": 4096, "tie_word_embeddings": False,
    },
}  # fmt: skip


def model_of(name: str) -> Model:
    model, findings = read_config(CONFIGS[name], name=name)
    assert model is not None, findings
    return model


def lengths(tokens: float) -> Length:
    return Length(dict.fromkeys(("mean", "p50", "p90", "p95", "p99", "max"), float(tokens)))


def build(
    model: str | Model,
    engine: str,
    memory_gib: float,
    *,
    count: int = 1,
    prompt: int = 1000,
    output: int = 24,
    concurrency: float | None = 1.0,
    reserved_gib: float = 0.0,
    card: dict[str, Any] | None = None,
    techniques: Techniques | None = None,
    cache_format: str | None = None,
    **settings: Any,
) -> Plan:
    """A plan with the engine's defaults, and the levers that its version turns on by itself."""
    found = model_of(model) if isinstance(model, str) else model
    accelerator = replace(
        Accelerator(
            id="card",
            name="Card",
            capacity_bytes=memory_gib * GIB,
            marketed_bytes=memory_gib * GIB,
            interconnect=Interconnect(domain=8, topology="nvswitch"),
        ),
        **(card or {}),
    )
    declared = EngineSettings(name=engine, origins=dict.fromkeys(settings, "spec"), **settings)
    module = engines.get(engine)
    on = module.default_levers(declared, found, accelerator.compute_capability)
    plan = Plan(
        name="plan",
        model=found,
        hardware=Hardware(cards=(accelerator,) * count, reserved_bytes=reserved_gib * GIB),
        engine=declared,
        workload=Workload(
            load=Load(kind="concurrency", concurrency=concurrency),
            classes=(RequestClass(name="all", prompt=lengths(prompt), output=lengths(output)),),
        ),
        objectives=Objectives(),
        techniques=techniques
        or Techniques(
            continuous_batching=True,
            exact_attention_kernel="exact-attention-kernel" in on,
            cuda_graphs="cuda-graphs" in on and not settings.get("enforce_eager"),
            chunked_prefill="chunked-prefill" in on,
            prefix_caching="prefix-caching" in on,
        ),
        cache_format=cache_format,
    )
    return replace(plan, engine=module.with_defaults(plan))


@pytest.fixture
def make_plan() -> Callable[..., Plan]:
    return build
