"""SGLang, TensorRT-LLM, llama.cpp and the ideal engine against logs and hand arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner.domain.levers import Techniques
from planner.domain.plan import Plan
from planner.engines import ideal, llama_cpp, sglang, tensorrt_llm

GIB, MIB = 2**30, 2**20
MakePlan = Callable[..., Plan]


class TestSglang:
    def test_share_of_what_is_free_before_loading(self, make_plan: MakePlan) -> None:
        # 79.18 - 0.6 = 78.58 GiB free; x 0.9 = 70.72; less weights of 8.03e9 x 2 bytes = 14.96: 55.76 GiB.
        found = sglang.memory(make_plan("llama-3.1-8b", "sglang", 79.18, memory_fraction=0.9)).memory
        assert found.kv_pool_bytes / GIB == pytest.approx(55.76, abs=0.02)
        assert found.kv_capacity_tokens == pytest.approx(55.76 * GIB / 131_072, rel=0.001)

    def test_default_share_of_a_card(self, make_plan: MakePlan) -> None:
        # 81,559 MiB: 13,440 MiB stay outside (512 + 1.5 x 8192 + 2 x 256 + 128): 68,119 / 81,559 = 0.835.
        plan = make_plan("llama-3.1-8b", "sglang", 79.18, card={"driver_bytes": 81_559 * MIB}, version="0.5.3")
        assert plan.engine.memory_fraction == 0.835
        assert plan.engine.max_num_batched_tokens == 8192

    def test_default_share_by_ranks_in_old_versions(self, make_plan: MakePlan) -> None:
        # sglang/srt/server_args.py of v0.4: 0.88 on one rank, 0.81 on eight.
        assert make_plan("llama-3.1-8b", "sglang", 79.18, version="0.4.6").engine.memory_fraction == 0.88
        eight = make_plan("llama-3.1-8b", "sglang", 79.18, count=8, version="0.4.6", tensor_parallel_size=8)
        assert eight.engine.memory_fraction == 0.81

    @pytest.mark.parametrize(
        ("version", "card_mib", "tensor", "share"),
        [
            ("0.3.6", 81_559, 8, 0.82),
            ("0.4.6", 143_771, 1, 0.907),  # (143,771 - 13,312) / 143,771
            ("0.4.7", 143_771, 1, 0.872),  # (143,771 - 18,432) / 143,771
            ("0.4.7", 97_871, 1, 0.88),
            ("0.4.9", 15_360, 1, 0.807),  # 15,360 - (2.8 + 0.1) x 1024
            ("0.5.2", 81_559, 8, 0.831),  # 81,559 - (9.5 + 8/2) x 1024
            ("0.5.2", 183_359, 8, 0.821),  # 32 GiB
            ("0.5.12", 81_559, 1, 0.83),  # 13,440 as above, and 464 of prefill graphs
            ("0.5.12", 24_564, 1, 0.828),  # 512 + 3072 + 48 + 128, and 464: 4224
        ],
    )
    def test_default_share_by_version(
        self, make_plan: MakePlan, version: str, card_mib: int, tensor: int, share: float
    ) -> None:
        # The sums are those of server_args.py of each version.
        card = {"driver_bytes": card_mib * MIB}
        plan = make_plan(
            "llama-3.1-8b",
            "sglang",
            card_mib / 1024,
            count=tensor,
            card=card,
            version=version,
            tensor_parallel_size=tensor,
        )
        assert plan.engine.memory_fraction == pytest.approx(share, abs=0.001)

    def test_share_below_the_weights_is_refused(self, make_plan: MakePlan) -> None:
        ledger = sglang.memory(make_plan("llama-3.1-8b", "sglang", 79.18, memory_fraction=0.15))
        assert ledger.refusal_values["reason"] == "weights"
        # 14.96 / 78.58 = 0.190
        assert ledger.refusal_values["smallest_fraction"] == pytest.approx(0.190, abs=0.001)

    def test_context_above_the_pool(self, make_plan: MakePlan) -> None:
        """Of a context that is promised; one that nobody declared only shortens what requests may be."""
        plan = make_plan("llama-3.1-8b", "sglang", 22.0, memory_fraction=0.85, max_model_len=131072)
        ledger = sglang.memory(plan)
        assert ledger.refusal_values["reason"] == "one-sequence"
        assert "131,072 tokens needs 16.00 GiB" in ledger.refusal
        undeclared = sglang.memory(make_plan("llama-3.1-8b", "sglang", 22.0, memory_fraction=0.85))
        assert undeclared.memory.fits
        assert undeclared.memory.kv_capacity_tokens == ledger.memory.kv_capacity_tokens

    def test_a_pool_below_one_token_is_refused_whatever_was_declared(self, make_plan: MakePlan) -> None:
        # Weights of 14.96 GiB of 21.4 free: a share a hair above them leaves less than the 128 KiB of one token.
        plan = make_plan("llama-3.1-8b", "sglang", 22.0, memory_fraction=0.5)
        smallest = sglang.memory(plan).refusal_values["smallest_fraction"]
        ledger = sglang.memory(make_plan("llama-3.1-8b", "sglang", 22.0, memory_fraction=smallest * (1 + 1e-7)))
        assert ledger.memory.kv_capacity_tokens == 0
        assert not ledger.memory.fits

    def test_start_line_prints_gb(self, make_plan: MakePlan) -> None:
        plan = make_plan("llama-3.1-8b", "sglang", 79.18, memory_fraction=0.9)
        assert sglang.start_line(plan, sglang.memory(plan)).endswith("size: 55.76 GB")


class TestTensorRtLlm:
    def test_share_of_what_is_free_after_loading(self, make_plan: MakePlan) -> None:
        # 79.15 - 0.6 context - 12.55 weights - 8192 x 2 x (3 x 11,008 + 3 x 4096) bytes = 0.69 execution context -
        # 32,000 x 12.5 bytes = 0.00 decoder = 65.31; x 0.9 = 58.78 GiB.
        found = tensorrt_llm.memory(make_plan("llama-2-7b", "tensorrt-llm", 79.15, max_num_seqs=1)).memory
        assert found.kv_pool_bytes / GIB == pytest.approx(58.78, abs=0.02)

    def test_capacity_in_whole_blocks(self, make_plan: MakePlan) -> None:
        plan = make_plan("llama-2-7b", "tensorrt-llm", 79.15, version="1.0")
        tokens = tensorrt_llm.memory(plan).memory.kv_capacity_tokens
        assert tokens is not None
        assert tokens % 32 == 0

    def test_nothing_left_for_the_cache(self, make_plan: MakePlan) -> None:
        ledger = tensorrt_llm.memory(make_plan("llama-2-70b", "tensorrt-llm", 79.15))
        assert ledger.refusal_values["reason"] == "no-blocks"

    def test_one_sequence_does_not_fit(self, make_plan: MakePlan) -> None:
        ledger = tensorrt_llm.memory(make_plan("llama-3.1-8b", "tensorrt-llm", 22.0))
        assert ledger.refusal_values["reason"] == "one-sequence"
        assert ledger.refusal_values["needed_bytes"] == 16 * GIB

    def test_start_line(self, make_plan: MakePlan) -> None:
        plan = make_plan("llama-2-7b", "tensorrt-llm", 79.15, max_num_seqs=1)
        assert tensorrt_llm.start_line(plan, tensorrt_llm.memory(plan)).startswith("Allocated 58.7")


class TestLlamaCpp:
    def test_cache_of_the_whole_context_of_every_slot(self, make_plan: MakePlan) -> None:
        # 131,072 bytes a token x 8192 x 2 slots = 2 GiB.
        plan = make_plan("llama-3.1-8b", "llama-cpp", 44.4, max_model_len=8192, max_num_seqs=2)
        found = llama_cpp.memory(plan).memory
        assert found.kv_pool_bytes == 2 * GIB
        assert found.kv_capacity_tokens == 16_384
        assert found.max_concurrency == 2

    def test_compute_buffer_without_flash_attention(self, make_plan: MakePlan) -> None:
        # Printed at 8192 tokens: 560.01 MiB on one card, 640.01 on each of two; it is not divided by cards.
        # https://github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference
        off = Techniques(continuous_batching=True)
        one = make_plan("llama-3.1-8b", "llama-cpp", 44.4, max_model_len=8192, techniques=off)
        two = make_plan("llama-3.1-8b", "llama-cpp", 23.6, count=2, max_model_len=8192, techniques=off)
        assert llama_cpp.memory(one).memory.activation_bytes / MIB == pytest.approx(560, rel=0.01)
        assert llama_cpp.memory(two).memory.activation_bytes / MIB == pytest.approx(640, rel=0.01)

    def test_input_embedding_stays_on_the_host(self, make_plan: MakePlan) -> None:
        # 8.03e9 parameters, of which 128,256 x 4096 = 525e6 are the input embedding: 7.505e9 x 2 bytes.
        found = llama_cpp.memory(make_plan("llama-3.1-8b", "llama-cpp", 44.4)).memory
        assert found.weights_total_bytes == pytest.approx(15.01e9, rel=0.001)

    def test_layers_are_dealt_in_order_with_the_output_as_one_more(self, make_plan: MakePlan) -> None:
        # 32 layers and the output over two cards: 17 layers, and 15 layers with the output.
        cards = llama_cpp.cards_of(make_plan("llama-3.1-8b", "llama-cpp", 23.6, count=2))
        assert [sum(held for _, held in card.layers) for card in cards] == [17, 15]

    def test_fewer_layers_on_the_card(self, make_plan: MakePlan) -> None:
        cards = llama_cpp.cards_of(make_plan("llama-3.1-8b", "llama-cpp", 23.6, gpu_layers=10))
        assert sum(held for _, held in cards[0].layers) == 9  # nine layers and the output

    def test_too_long_a_context_is_refused_with_the_longest(self, make_plan: MakePlan) -> None:
        plan = make_plan("llama-3.1-8b", "llama-cpp", 23.6, max_model_len=131_072)
        ledger = llama_cpp.memory(plan)
        assert ledger.refusal_values["reason"] == "allocation"
        longest = ledger.refusal_values["largest_max_model_len"]
        for length, fits in ((longest, True), (longest + 1, False)):
            changed = replace(plan, engine=replace(plan.engine, max_model_len=length))
            assert llama_cpp.memory(changed).memory.fits is fits

    def test_a_promise_longer_than_a_slot(self, make_plan: MakePlan) -> None:
        plan = make_plan("llama-3.1-8b", "llama-cpp", 44.4, max_model_len=4096, prompt=5000)
        assert llama_cpp.memory(plan).memory.max_concurrency == 0

    def test_everything_adds_up(self, make_plan: MakePlan) -> None:
        found = llama_cpp.memory(make_plan("llama-3.1-8b", "llama-cpp", 44.4)).memory
        parts = found.weights_bytes + found.activation_bytes + found.runtime_bytes + found.kv_pool_bytes
        assert parts + found.headroom_bytes == pytest.approx(found.capacity_bytes)


class TestIdeal:
    def test_weights_and_the_declared_cache_only(self, make_plan: MakePlan) -> None:
        # 8.0303e9 x 2 bytes; 131,072 x 8192 x 16 = 16 GiB; 74.5 GiB = 80 GB.
        plan = make_plan("llama-3.1-8b", "ideal", 74.5, prompt=8000, output=192, concurrency=16.0)
        found = ideal.memory(plan).memory
        assert found.weights_bytes == pytest.approx(16.06e9, rel=0.001)
        assert found.kv_cache_bytes == 16 * GIB
        assert found.activation_bytes == found.runtime_bytes == found.cuda_graph_bytes == 0
        assert found.free_bytes == pytest.approx(74.5 * GIB - found.weights_bytes - 16 * GIB)
        assert found.max_concurrency == pytest.approx((74.5 * GIB - found.weights_bytes) / GIB)

    def test_a_load_above_the_memory(self, make_plan: MakePlan) -> None:
        ledger = ideal.memory(make_plan("llama-3.1-8b", "ideal", 30.0, prompt=8000, output=192, concurrency=16.0))
        assert not ledger.memory.fits
        assert ledger.refusal_values["reason"] == "load"

    def test_tensor_parallel_halves_weights_and_cache(self, make_plan: MakePlan) -> None:
        one = ideal.memory(make_plan("llama-3.1-8b", "ideal", 80.0)).memory
        two = ideal.memory(make_plan("llama-3.1-8b", "ideal", 80.0, count=2, tensor_parallel_size=2)).memory
        assert two.weights_bytes == pytest.approx(one.weights_bytes / 2, rel=0.001)
        assert two.kv_cache_bytes == pytest.approx((one.kv_cache_bytes or 0) / 2)


@pytest.mark.parametrize("module", [sglang, tensorrt_llm, llama_cpp])
def test_more_memory_never_fewer_tokens(make_plan: MakePlan, module: object) -> None:
    name = module.NAME  # type: ignore[attr-defined]
    tokens = [
        module.memory(
            make_plan("llama-3.1-8b", name, size, max_model_len=4096, max_num_batched_tokens=2048, memory_fraction=0.85)
        ).memory.kv_capacity_tokens  # type: ignore[attr-defined]
        for size in (24.0, 40.0, 48.0, 80.0, 141.0)
    ]
    assert tokens == sorted(tokens)
