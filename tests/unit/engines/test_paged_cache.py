"""Blocks of a paged cache against what engines printed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.engines._cache_layers import CacheKind
from planner.engines._cache_pages import group_size, pages
from planner.physics.paged_cache import PagedCache, PageGroup

MIB, GIB = 2**20, 2**30


def test_plain_cache_of_a_start_up_log() -> None:
    # Llama-3.1-8B on two V100: 32 layers x 4 KV heads x 128 x 2 (keys, values) x 2 bytes = 65,536 bytes a token and
    # rank, a block of 16 tokens is 1 MiB. Printed: 3852 blocks, 1.54x for 40,000 tokens.
    # https://github.com/vllm-project/vllm/issues/11251
    paged = pages({CacheKind(token_bytes=2048.0): 32}, 16, 2048)
    assert paged.block_bytes == MIB
    blocks = paged.pool_blocks(3852.4 * MIB)
    assert blocks == 3852
    assert round(blocks / paged.sequence_blocks(40_000), 2) == 1.54


def test_half_the_layers_with_a_window() -> None:
    # gpt-oss-120b on four A100: 18 layers keep everything, 18 a window of 128; 2 KV heads x 64 x 2 x 2 bytes = 512
    # bytes a token, layer and rank. A block is 16 x 512 x 18 = 147,456 bytes. A sequence of 16,384 tokens takes 1024
    # blocks and ceil((128 - 1 + 2048)/16) + 1 = 137 for the window: 330,018 / 1161 = 284.25, as printed.
    # https://github.com/dennislee22/vLLM-benchmarking (log of 120B on 4 GPUs, 0.8)
    paged = pages({CacheKind(512.0): 18, CacheKind(512.0, window=128): 18}, 16, 2048)
    assert paged.block_bytes == 147_456
    assert paged.tables == 2
    assert round(330_018 / paged.sequence_blocks(16_384), 2) == 284.25


def test_without_a_hybrid_manager_windows_keep_everything() -> None:
    paged = pages({CacheKind(512.0): 18, CacheKind(512.0, window=128): 18}, 16, 2048, windows=False)
    assert paged.sequence_blocks(16_384) == 1024  # 16,384 / 16
    assert paged.block_bytes == 16 * 512 * 36


def test_attention_block_grows_to_cover_a_state() -> None:
    # Gated delta net of 48 value heads x 128 x 128 on two ranks: 24 x 128 x 128 x 4 bytes = 1,572,864, and a
    # convolution of (2 x 16 x 128 + 48 x 128)/2 channels x 3 x 2 bytes = 30,720: 1,603,584. Attention: 2 KV heads x
    # 256 x 2 x 1 byte = 1024 a token. 1,603,584 / (16 x 1024) = 97.9 -> 98 x 16 = 1568 tokens, as printed.
    # https://github.com/mitchross/talos-argocd-proxmox/pull/1995
    paged = pages({CacheKind(1024.0): 16, CacheKind(state_bytes=1_603_584.0): 48}, 16, 8192)
    assert paged.block_tokens == 1568
    assert paged.block_bytes == 16 * 1568 * 1024
    # 131,072 tokens: ceil(131,072 / 1568) = 84 blocks of attention and a block for each of 3 tables of states.
    assert paged.sequence_blocks(131_072) == 87


@pytest.mark.parametrize(("counts", "size"), [([10, 20], 10), ([10, 50], 10), ([20, 24], 24), ([18, 18], 18)])
def test_group_size(counts: list[int], size: int) -> None:
    # The fewest, unless the most is below 1.5 times as many: 24 < 1.5 x 20 = 30.
    assert group_size(counts) == size


def test_longest_sequence_is_whole_blocks() -> None:
    # 62 layers x 8 KV heads x 128 x 2 x 2 bytes = 253,952 bytes = 248 KiB a token; 12,858 blocks of 16 tokens
    # are 48.65 GiB and hold 205,728 tokens; one sequence of 262,144 takes 62.00 GiB.
    # https://github.com/vllm-project/recipes/pull/12
    paged = pages({CacheKind(4096.0): 62}, 16, 2048)
    assert paged.sequence_bytes(262_144) / GIB == 62.0
    assert paged.longest(12_858, 262_144) == 205_728


@given(
    pool=st.floats(0, 1e12),
    more=st.floats(0, 1e12),
    block=st.integers(1, 256),
    token_bytes=st.floats(1, 1e6),
)
def test_more_memory_never_fewer_blocks(pool: float, more: float, block: int, token_bytes: float) -> None:
    paged = PagedCache(block * token_bytes, (PageGroup(1, block),))
    assert paged.pool_blocks(pool + more) >= paged.pool_blocks(pool)


@given(tokens=st.integers(1, 10**6), more=st.integers(0, 10**6), window=st.none() | st.integers(1, 10**5))
def test_longer_sequences_never_take_fewer_blocks(tokens: int, more: int, window: int | None) -> None:
    group = PageGroup(3, 16, window)
    assert group.blocks(tokens + more) >= group.blocks(tokens) >= 3 * math.ceil(min(tokens, window or tokens) / 16)
