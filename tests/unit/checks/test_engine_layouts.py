"""Valid parallel sizes of published shapes, by hand."""

from __future__ import annotations

import pytest

from planner.checks._engine_layouts import in_words, layouts, valid_sizes
from planner.domain.model import CacheEntry, FeedForward, LayerGroup, Mixer, Model


def model(heads: int, kv_heads: int, width: int, layers: int = 4, experts: int = 0) -> Model:
    mixer = Mixer("full-attention", cache=(CacheEntry(kv_heads * 256, kv_heads),), heads=heads, kv_heads=kv_heads)
    part = FeedForward("experts" if experts else "dense", (), width, experts)
    return Model("shapes", 1024, 32_000, (LayerGroup(tuple(range(layers)), (mixer,), (part,)),))


@pytest.mark.parametrize(
    ("heads", "kv_heads", "width", "valid"),
    [
        # 28 heads: divisors 1 2 4 7 14 28; 4 KV heads rule out 7 and 14; 18,944 = 2^9 x 37 rules out 28.
        # https://github.com/THU-KEG/AdaptThink/issues/1
        (28, 4, 18_944, [1, 2, 4]),
        # 52 heads of 52: divisors 1 2 4 13 26 52; 17,920 = 2^9 x 5 x 7 rules out multiples of 13.
        # https://github.com/vllm-project/vllm/issues/414
        (52, 52, 17_920, [1, 2, 4]),
        # 32 heads, 8 KV heads: 16 and 32 hold copies of KV heads.
        (32, 8, 14_336, [1, 2, 4, 8, 16, 32]),
    ],
)
def test_valid_sizes(heads: int, kv_heads: int, width: int, valid: list[int]) -> None:
    assert valid_sizes(model(heads, kv_heads, width)) == valid


def test_whole_experts_do_not_need_their_width_divided() -> None:
    # 20 columns do not divide by 8; ranks that hold whole experts do not cut them.
    assert 8 not in valid_sizes(model(16, 16, 20, experts=64))
    assert 8 in valid_sizes(model(16, 16, 20, experts=64), expert_ranks=8)


def test_latent_caches_do_not_limit() -> None:
    mixer = Mixer("latent-attention", cache=(CacheEntry(576, 1),), heads=128, kv_heads=1)
    found = Model("latent", 7168, 129_280, (LayerGroup((0,), (mixer,)),))
    assert valid_sizes(found) == [1, 2, 4, 8, 16, 32, 64]


def test_layouts_use_every_accelerator_owned() -> None:
    found = list(layouts(model(28, 4, 18_944, layers=28), 8, [1, 2, 4]))
    assert found[0] == {"tensor_parallel_size": 4, "pipeline_parallel_size": 2}
    assert found[1] == {"tensor_parallel_size": 4, "replicas": 2}
    assert in_words(found[0]) == "tensor parallel 4 with 2 pipeline stages"


def test_three_accelerators_pipeline() -> None:
    # 52 heads over three cards: pipeline of three, as 60 layers divide by three.
    found = list(layouts(model(52, 52, 17_920, layers=60), 3, [1, 2, 4]))
    assert found[0] == {"tensor_parallel_size": 1, "pipeline_parallel_size": 3}
