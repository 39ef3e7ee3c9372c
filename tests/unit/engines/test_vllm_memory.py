"""vLLM's budget against start-up logs, its refusals, and laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.domain.plan import Plan
from planner.engines import MemoryLedger, vllm

GIB = 2**30
MakePlan = Callable[..., Plan]
V100 = {"compute_capability": "7.0"}


def test_start_up_log_of_two_v100(make_plan: MakePlan) -> None:
    # 15.77 GiB x 0.90 = 14.20; weights 7.51, activations 2.53, outside the allocator 0.39: 3.76 GiB, 3852 blocks.
    # https://github.com/vllm-project/vllm/issues/11251
    plan = make_plan("llama-3.1-8b", "vllm", 15.77, count=2, card=V100, version="0.6.4", tensor_parallel_size=2,
                     max_model_len=40_000, memory_fraction=0.90)  # fmt: skip
    found = vllm.memory(plan).memory
    assert found.weights_bytes / GIB == pytest.approx(7.51, rel=0.015)
    assert found.activation_bytes / GIB == pytest.approx(2.53, rel=0.02)
    assert found.kv_pool_bytes / GIB == pytest.approx(3.76, abs=0.02 * 15.77)
    assert found.fits


@pytest.mark.parametrize(
    ("ranks", "fraction", "weights_gib", "pool_gib", "concurrency"),
    [(1, 0.25, 14.25, 5.01, 5.73), (1, 0.5, 14.25, 24.83, 28.37), (2, 0.5, 7.12, 31.83, 72.76)],
)
def test_start_up_log_of_a100(
    make_plan: MakePlan, ranks: int, fraction: float, weights_gib: float, pool_gib: float, concurrency: float
) -> None:
    # Qwen2-7B, v0.10.1.1, 2048 batched tokens, 16,384 context.
    # https://github.com/dennislee22/vLLM-benchmarking/tree/b474d1e053c35c9aef8c02aae4efbc0d8675f033/log
    card = {"id": "a100-sxm-80", "compute_capability": "8.0"}
    plan = make_plan("qwen2-7b", "vllm", 79.15, count=ranks, card=card, version="0.10.1.1",
                     tensor_parallel_size=ranks, max_model_len=16_384, max_num_batched_tokens=2048,
                     memory_fraction=fraction, prompt=16_000, output=384)  # fmt: skip
    found = vllm.memory(plan).memory
    assert found.weights_bytes / GIB == pytest.approx(weights_gib, rel=0.015)
    assert found.kv_pool_bytes / GIB == pytest.approx(pool_gib, abs=0.01 * 79.15)
    assert found.max_concurrency == pytest.approx(concurrency, rel=0.05)


def test_everything_adds_up_to_the_card(make_plan: MakePlan) -> None:
    found = vllm.memory(make_plan("llama-3.1-8b", "vllm", 79.18)).memory
    parts = (found.weights_bytes, found.activation_bytes, found.cuda_graph_bytes, found.runtime_bytes)
    assert sum(parts) + found.kv_pool_bytes + found.headroom_bytes == pytest.approx(found.capacity_bytes)
    assert found.kv_cache_bytes is not None and found.free_bytes is not None
    assert sum(parts) + found.kv_cache_bytes + found.free_bytes == pytest.approx(found.usable_bytes)


def test_cache_of_the_declared_load(make_plan: MakePlan) -> None:
    # 131,072 bytes a token x 1024 tokens x 8 sequences = 1 GiB.
    found = vllm.memory(make_plan("llama-3.1-8b", "vllm", 79.18, concurrency=8.0)).memory
    assert found.kv_cache_bytes == GIB
    assert found.state_bytes == 0


def test_concurrency_is_tokens_over_the_promise(make_plan: MakePlan) -> None:
    ledger = vllm.memory(make_plan("llama-3.1-8b", "vllm", 79.18, prompt=7000, output=1192))
    tokens = ledger.memory.kv_capacity_tokens
    assert tokens is not None
    assert ledger.memory.max_concurrency == pytest.approx(tokens / 8192)
    # A running sequence holds its prompt and half its answer, 7596 tokens on average: more of them than promised.
    assert ledger.expected_concurrency == pytest.approx(tokens / 7600)  # 475 blocks of 16
    assert ledger.guaranteed_concurrency == ledger.memory.max_concurrency


def test_a_load_that_does_not_say_leaves_the_cache_open(make_plan: MakePlan) -> None:
    plan = make_plan("llama-3.1-8b", "vllm", 79.18, concurrency=None)
    assert vllm.memory(plan).memory.free_bytes is None
    assert vllm.memory(plan, sequences=8).memory.kv_cache_bytes == GIB


def test_data_parallel_ranks_add_their_pools(make_plan: MakePlan) -> None:
    one = vllm.memory(make_plan("llama-3.1-8b", "vllm", 79.18)).memory
    four = vllm.memory(make_plan("llama-3.1-8b", "vllm", 79.18, count=4, data_parallel_size=4)).memory
    assert one.kv_capacity_tokens is not None and four.kv_capacity_tokens is not None
    assert 3.5 < four.kv_capacity_tokens / one.kv_capacity_tokens <= 4.0  # less what four communicators take


def test_fp8_cache_doubles_the_tokens(make_plan: MakePlan) -> None:
    # Printed for one card: 78,897 blocks with 16 bits, 157,794 with 8 (rocm-blogs, vllm-optimize).
    plain = vllm.memory(make_plan("llama-3.1-8b", "vllm", 191.7)).memory.kv_capacity_tokens
    halved = vllm.memory(make_plan("llama-3.1-8b", "vllm", 191.7, cache_format="fp8")).memory.kv_capacity_tokens
    assert plain is not None and halved is not None
    assert halved == pytest.approx(2 * plain, abs=32)


class TestRefusals:
    def test_weights_above_the_card(self, make_plan: MakePlan) -> None:
        # 70 billion parameters x 2 bytes on 80 GB: https://github.com/vllm-project/vllm/issues/5711
        assert _reason(make_plan("llama-2-70b", "vllm", 79.15)) == "weights"

    def test_more_asked_for_than_free_at_start(self, make_plan: MakePlan) -> None:
        ledger = vllm.memory(make_plan("llama-3.1-8b", "vllm", 79.18, memory_fraction=0.95, reserved_gib=6.0))
        assert ledger.refusal_values["reason"] == "free-at-start"
        # (79.18 - 6 - 0.5) / 79.18 = 0.9179, rounded down to what certainly starts.
        assert ledger.refusal_values["largest_fraction"] == 0.917

    def test_no_blocks(self, make_plan: MakePlan) -> None:
        # 0.25 x 79.18 = 19.8 GiB, of which weights take 14.99 and sampling of 1024 sequences 1.5: something is left;
        # at 0.2 nothing is.
        assert _reason(make_plan("llama-3.1-8b", "vllm", 79.18, memory_fraction=0.2)) == "no-blocks"

    def test_one_sequence_does_not_fit(self, make_plan: MakePlan) -> None:
        # One sequence of 131,072 tokens needs 131,072 x 131,072 bytes = 16.00 GiB; a 22 GiB card leaves 3 to 5.
        ledger = vllm.memory(
            make_plan("llama-3.1-8b", "vllm", 22.07, card={"compute_capability": "8.6"}, version="0.7", prompt=1000)
        )
        assert not ledger.memory.fits
        assert ledger.refusal_values["reason"] == "one-sequence"
        assert ledger.refusal_values["needed_bytes"] == 16 * GIB
        longest = ledger.refusal_values["largest_max_model_len"]
        assert longest % 16 == 0
        assert longest == ledger.memory.kv_capacity_tokens == ledger.largest_context

    @pytest.mark.parametrize(("version", "layers"), [("0.13", 16), ("0.14", 32), ("0.16", 32), ("0.17.1", 16)])
    def test_which_layers_one_sequence_is_checked_with(self, make_plan: MakePlan, version: str, layers: int) -> None:
        # 4,096 bytes of a token of a layer, 131,072 tokens; each of two stages holds 16 layers. vllm issue 34076
        declared: dict[str, Any] = {"card": {"compute_capability": "8.6"}, "pipeline_parallel_size": 2}
        ledger = vllm.memory(make_plan("llama-3.1-8b", "vllm", 15.5, version=version, **declared))
        assert ledger.refusal_values["needed_bytes"] == layers * 4096 * 131_072
        longest = ledger.largest_context
        assert ledger.refusal_values["largest_max_model_len"] == longest
        for length, fits in ((longest, True), (longest + 1, False)):
            plan = make_plan("llama-3.1-8b", "vllm", 15.5, version=version, max_model_len=length, **declared)
            assert vllm.memory(plan).memory.fits is fits

    def test_the_longest_context_fits(self, make_plan: MakePlan) -> None:
        declared: dict[str, Any] = {"card": {"compute_capability": "8.6"}, "version": "0.9"}
        longest = vllm.memory(make_plan("llama-3.1-8b", "vllm", 22.07, **declared)).refusal_values[
            "largest_max_model_len"
        ]
        assert vllm.memory(make_plan("llama-3.1-8b", "vllm", 22.07, max_model_len=longest, **declared)).memory.fits
        assert not vllm.memory(
            make_plan("llama-3.1-8b", "vllm", 22.07, max_model_len=longest + 1, **declared)
        ).memory.fits


def _reason(plan: Plan) -> object:
    ledger = vllm.memory(plan)
    assert ledger.refusal and not ledger.memory.fits
    return ledger.refusal_values["reason"]


class TestDefaults:
    @pytest.mark.parametrize(
        ("version", "memory_gib", "fraction", "sequences", "tokens"),
        [
            ("0.6.2", 79.18, 0.90, 256, 512),
            ("0.7.2", 79.18, 0.90, 256, 2048),
            ("0.10", 79.18, 0.90, 1024, 8192),
            ("0.10", 44.4, 0.90, 256, 2048),
            ("0.25", 79.18, 0.92, 1024, 8192),
            (None, 79.18, 0.92, 1024, 8192),
        ],
    )
    def test_by_version_and_card(
        self, make_plan: MakePlan, version: str | None, memory_gib: float, fraction: float, sequences: int, tokens: int
    ) -> None:
        found = make_plan("llama-3.1-8b", "vllm", memory_gib, version=version).engine
        assert (found.memory_fraction, found.max_num_seqs, found.max_num_batched_tokens) == (
            fraction,
            sequences,
            tokens,
        )
        assert found.origins["max_num_seqs"] == "default"

    def test_declared_keys_stay(self, make_plan: MakePlan) -> None:
        found = make_plan("llama-3.1-8b", "vllm", 79.18, max_num_seqs=7).engine
        assert found.max_num_seqs == 7
        assert found.origins["max_num_seqs"] == "spec"

    def test_old_cards_without_chunking_profile_the_whole_context(self, make_plan: MakePlan) -> None:
        found = make_plan("llama-3.1-8b", "vllm", 15.77, card=V100, version="0.8.5", max_model_len=40_000).engine
        assert found.max_num_batched_tokens == 40_000
        assert found.enable_chunked_prefill is False


def test_old_versions_lose_pool_with_a_longer_context(make_plan: MakePlan) -> None:
    short, long = (
        vllm.memory(make_plan("llama-3.1-8b", "vllm", 39.4, version="0.7", max_model_len=length)).memory
        for length in (8192, 32_768)
    )
    assert long.kv_pool_bytes < short.kv_pool_bytes


def test_start_line(make_plan: MakePlan) -> None:
    plan = make_plan("llama-3.1-8b", "vllm", 79.18, max_model_len=8192)
    ledger: MemoryLedger = vllm.memory(plan)
    tokens = int(ledger.memory.kv_capacity_tokens or 0)
    expected = (
        f"GPU KV cache size: {tokens:,} tokens. Maximum concurrency for 8,192 tokens per request: {tokens / 8192:.2f}x"
    )
    assert vllm.start_line(plan, ledger) == expected


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(memory_gib=st.floats(10, 200), more_gib=st.floats(0, 50))
def test_more_memory_never_fewer_tokens(make_plan: MakePlan, memory_gib: float, more_gib: float) -> None:
    # Within one card class: cards of 70 GiB and more batch more tokens by themselves.
    declared: dict[str, Any] = {"max_model_len": 4096, "max_num_seqs": 256, "max_num_batched_tokens": 2048}
    less, most = (
        vllm.memory(make_plan("llama-3.1-8b", "vllm", size, **declared)).memory.kv_capacity_tokens
        for size in (memory_gib, memory_gib + more_gib)
    )
    assert less is not None and most is not None
    assert most >= less
