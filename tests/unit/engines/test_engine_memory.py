"""Formulas of what an engine takes besides weights and cache, against start-up logs."""

from __future__ import annotations

import pytest

from planner.physics import engine_memory

GIB, MIB = 2.0**30, 2.0**20


@pytest.mark.parametrize(
    ("tokens", "hidden", "width", "printed_gib"),
    [
        # 32,768 x 2 x (3 x 18,944 + 3 x 3584) = 4.12 GiB; Qwen2.5-7B on V100, no chunked prefill.
        (32_768, 3584, 18_944, 4.35),
        # 40,000 x 2 x (3 x 7168 + 3 x 4096) = 2.52 GiB; Llama-3.1-8B on two V100.
        # https://github.com/vllm-project/vllm/issues/11251
        (40_000, 4096, 14_336 / 2, 2.53),
        # 32,768 x 2 x (3 x 8960 + 3 x 1536) = 1.92 GiB; Qwen2.5-1.5B on T4.
        (32_768, 1536, 8960, 2.02),
    ],
)
def test_prefill_peak_of_dense_models(tokens: int, hidden: int, width: float, printed_gib: float) -> None:
    found = engine_memory.prefill_peak_bytes(tokens, engine_memory.feed_forward_values(hidden, width))
    assert found / GIB == pytest.approx(printed_gib, rel=0.07)


@pytest.mark.parametrize(
    ("sequences", "vocabulary", "printed_gib"),
    [
        (256, 128_256, 1.19),  # Llama-3.1-8B on H100, v0.6: 256 x 128,256 x 39 bytes
        (256, 152_064, 1.42),  # Qwen2.5-7B: https://github.com/vllm-project/vllm/issues/13882
        (320, 128_256, 1.49),  # Llama-3.2-3B, notebooks that print max_num_seqs
        (128, 151_936, 0.70),
    ],
)
def test_sampling_of_the_older_generation(sequences: int, vocabulary: int, printed_gib: float) -> None:
    assert engine_memory.sampler_bytes(sequences, vocabulary, 39.0) / GIB == pytest.approx(printed_gib, rel=0.03)


def test_captured_sizes() -> None:
    assert engine_memory.captured_sizes(256) == 35  # 1, 2, 4 and 8 to 256 by 8: 3 + 32
    assert engine_memory.captured_sizes(512, 8) == 67  # 3 + 32 + 32
    assert engine_memory.captured_sizes(512) == 51  # 3 + 32 + 16, as printed: PIECEWISE=51 (largest=512)
    assert engine_memory.captured_sizes(2) == 2
    assert engine_memory.captured_sizes(0) == 0


def test_no_graphs_take_nothing() -> None:
    assert engine_memory.graph_bytes(32, 0, MIB, GIB) == 0.0


def test_static_reserve() -> None:
    # 8192 tokens, 256 captured, one rank: 512 + 12,288 + 512 + 128 = 13,440 MiB.
    assert engine_memory.static_reserve_bytes(8192, 256, 1) / MIB == 13_440
    # Chunks below 2048 count as 2048: 512 + 3072 + 16 + 128 = 3728 MiB.
    assert engine_memory.static_reserve_bytes(512, 8, 1) / MIB == 3728


def test_score_buffer() -> None:
    # 32 heads x 8192 x 512 tokens x 4 bytes = 512 MiB.
    assert engine_memory.score_buffer_bytes(32, 8192, 512) / MIB == 512


def test_adapters() -> None:
    # 2 slots x rank 16 x (4096 + 4096) x 2 bytes = 512 KiB.
    assert engine_memory.adapter_bytes(16, 4096, 4096, 2) == 524_288
