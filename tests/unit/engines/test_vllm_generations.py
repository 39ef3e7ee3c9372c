"""What the two generations of vLLM profile, by version, against a start-up log and the arithmetic of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.architectures.config import read_config
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.engines import _weights, vllm

GIB = 2**30
MakePlan = Callable[..., Plan]
LATENT: dict[str, Any] = {
    "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 4, "num_attention_heads": 128,
    "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 3,
    "vocab_size": 129280, "max_position_embeddings": 163840, "torch_dtype": "bfloat16",
}  # fmt: skip


def latent() -> Model:
    model, findings = read_config(LATENT, name="latent")
    assert model is not None, findings
    return model


@pytest.mark.parametrize(
    ("version", "chosen", "activation_gib"),
    [
        # 8192 tokens x (128,256 + 4096) x 2 bytes: logits of all of them, and their hidden states.
        ("0.7.0", True, 2.02),
        # From 0.7.3 logits of sequences only: 8192 x (3 x 14,336 + 3 x 4096) x 2 bytes.
        ("0.7.3", True, 0.84),
        # The older generation, 2048 tokens not chunked, 256 sequences x 128,256 x 39 bytes.
        ("0.7.0", None, 1.19),
    ],
)
def test_what_is_profiled(make_plan: MakePlan, version: str, chosen: bool | None, activation_gib: float) -> None:
    plan = make_plan("llama-3.1-8b", "vllm", 79.11, version=version, max_model_len=2048, use_v1=chosen)
    assert vllm.memory(plan).memory.activation_bytes / GIB == pytest.approx(activation_gib, rel=0.01)


@pytest.mark.parametrize(("version", "counted"), [("0.8.5", True), ("0.9.0", True), ("0.9.1", False)])
def test_the_context_counts_before_profiling_from_a_snapshot(make_plan: MakePlan, version: str, counted: bool) -> None:
    # Up to 0.9.0 everything that is not the allocator's comes off the share, the driver's 0.5 GiB included.
    plan = make_plan("llama-3.1-8b", "vllm", 79.11, version=version, memory_fraction=0.9)
    found = vllm.memory(plan).memory
    before = found.weights_bytes + found.activation_bytes + (0.6 if counted else 0.1) * GIB
    assert found.kv_pool_bytes == pytest.approx(0.9 * found.capacity_bytes - before)


def test_copies_that_share_experts_have_communicators(make_plan: MakePlan) -> None:
    def runtime(model: Any) -> float:
        plan = make_plan(model, "vllm", 79.11, count=8, version="0.11", data_parallel_size=8)
        return vllm.memory(plan).memory.runtime_bytes / GIB

    # 2.2 GiB before the start for both; inside the budget 2.3 of eight ranks against 0.1 of one.
    assert runtime(latent()) == pytest.approx(4.5)
    assert runtime("llama-3.1-8b") == pytest.approx(2.3)


@pytest.mark.parametrize(("version", "expanded"), [("0.10.1", 0), ("0.11", 65_536)])
def test_latents_of_earlier_chunks_are_expanded(make_plan: MakePlan, version: str, expanded: int) -> None:
    # 65,536 tokens x 128 heads x (128 + 128) x 2 bytes = 4 GiB beside 2048 tokens x
    # (128 x 192 + 128 x 320 + 128 x 128 + 3 x 7168) x 2 bytes = 0.39 GiB of attention.
    plan = make_plan(latent(), "vllm", 141.0, version=version, max_model_len=32_768, max_num_batched_tokens=2048,
                     max_num_seqs=64)  # fmt: skip
    found = vllm.memory(plan).memory.activation_bytes / GIB
    assert found == pytest.approx(4.39, rel=0.02) if expanded else found < 1.0


def test_tables_of_rotary_angles() -> None:
    # 163,840 x 64 x 2 bytes: of a latent only the part that heads share is rotated.
    assert _weights.rotary_bytes(latent()) == 163_840 * 64 * 2


def test_weights_hold_the_tables(make_plan: MakePlan) -> None:
    # Llama-3.1-8B: 8,030,261,248 parameters of two bytes, and 131,072 x 128 x 2 bytes: 14.9888 GiB are printed.
    found = vllm.memory(make_plan("llama-3.1-8b", "vllm", 79.11)).memory
    assert found.weights_bytes / GIB == pytest.approx(14.9888, abs=0.0003)
