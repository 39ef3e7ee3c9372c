"""Prefix caching of models with recurrent layers: which versions keep states, and at what a block costs."""

from __future__ import annotations

from typing import Any

import pytest

from planner.domain.engine import EngineSettings
from planner.domain.model import LayerGroup, Mixer, MixerKind, Model, RecurrentState
from planner.engines import _recurrent_prefixes, figure
from planner.engines._cache_layers import CacheKind
from planner.engines._cache_pages import pages

# https://github.com/vllm-project/vllm/issues/40696: "Setting attention block size to 528 tokens".
# State 32 x 128 x 128 x 4 + 8192 x 3 x 2 = 2,146,304 bytes; a token of a layer 4 x 256 x 2 x 2 = 4096: 524, up to 528.
KINDS = {CacheKind(token_bytes=4096.0): 8, CacheKind(state_bytes=2_146_304.0): 24}


def model(*kinds: MixerKind) -> Model:
    mixers = tuple(Mixer(kind=kind, state=RecurrentState(state_elements=1)) for kind in kinds)
    return Model(name="recurrent", hidden=64, vocabulary=64, groups=(LayerGroup((0,), mixers),), dtype="bf16")


@pytest.mark.parametrize(
    ("engine", "version", "kind", "expected"),
    [
        ("vllm", "0.10.1", "mamba-2", "none"),
        ("vllm", "0.11.1", "mamba-2", "all"),
        ("vllm", "0.11.1", "gated-delta-net", "none"),
        ("vllm", "0.14.1", "gated-delta-net", "none"),
        ("vllm", "0.16", "gated-delta-net", "align"),
        ("vllm", "0.19", "mamba-1", "all"),
        ("sglang", "0.5.3", "gated-delta-net", "none"),
        ("sglang", "0.5.4", "gated-delta-net", "align"),
        ("sglang", "0.5.6", "kimi-delta-attention", "none"),
        ("llama-cpp", None, "mamba-2", "none"),
    ],
)
def test_versions(engine: str, version: str | None, kind: MixerKind, expected: str) -> None:
    supported: Any = figure(EngineSettings(name=engine, version=version), "recurrent_prefixes")
    assert _recurrent_prefixes.mode(model(kind), supported) == expected


def test_the_least_supported_layer_decides() -> None:
    supported: Any = figure(EngineSettings(name="vllm", version="0.19"), "recurrent_prefixes")
    assert _recurrent_prefixes.mode(model("mamba-2", "gated-delta-net"), supported) == "align"
    assert _recurrent_prefixes.mode(model(), supported) == "all"


@pytest.mark.parametrize(
    ("kept", "block", "blocks"),
    [
        # 4096 tokens: 8 of 528 in the attention table; three tables of 8 state layers each.
        ("none", 528, 8 + 3 * 1),
        ("align", 528, 8 + 3 * 2),
        # Whole chunks of 256: 768 tokens a block, a state for each of six blocks.
        ("all", 768, 6 + 3 * 6),
    ],
)
def test_blocks_of_a_sequence(kept: Any, block: int, blocks: int) -> None:
    cache = pages(KINDS, 16, 8192, kept_states=kept, chunk_tokens=256)
    assert cache.block_tokens == block
    assert cache.sequence_blocks(4096) == blocks
