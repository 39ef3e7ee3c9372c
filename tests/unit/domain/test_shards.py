"""What each rank holds, by hand."""

from __future__ import annotations

import numpy
import pytest

from planner.domain import shards
from planner.domain.model import CacheEntry, FeedForward, LayerGroup, Mixer, Model, RecurrentState, Weight
from planner.domain.shards import Parallel


def _model(*, kv_heads: int = 8, layers: int = 6, window: int | None = None) -> Model:
    """128-wide layers of one query, one key and one expert weight, and a vocabulary of 100."""
    mixer = Mixer(
        "full-attention",
        (Weight("q", 128, 128, "linear", "column"), Weight("k", kv_heads * 16, 128, "linear", "kv", heads=kv_heads)),
        (CacheEntry(kv_heads * 32, kv_heads, window),),
    )
    fed = FeedForward("experts", (Weight("e", 64, 128, "expert", "column", copies=8, active_copies=2),), 64, 8, 2)
    return Model(
        "m", 128, 100, (LayerGroup(tuple(range(layers)), (mixer,), (fed,)),),
        embedding=(Weight("embed", 100, 128, "embedding", "vocabulary"),),
        head=Weight("head", 100, 128, "head", "vocabulary"),
    )  # fmt: skip


def test_latents_are_whole_on_every_rank() -> None:
    """DeepSeek-V3, 64 sequences of 1,536 tokens at TP8: 64 x 1536 x 61 x 576 x 2 bytes = 6.43 GiB a rank."""
    mixer = Mixer("latent-attention", cache=(CacheEntry(576, role="latent"),))
    model = Model("m", 1, 1, (LayerGroup(tuple(range(61)), (mixer,)),))
    size = 64 * shards.cache_bytes(model, 1536, "bf16", Parallel(tensor=8))
    assert size == 64 * 1536 * 61 * 576 * 2
    assert size / 2**30 == pytest.approx(6.43, abs=0.005)


@pytest.mark.parametrize(("tensor", "heads"), [(1, 8), (2, 4), (8, 1), (16, 1), (64, 1)])
def test_key_value_heads_per_rank(tensor: int, heads: int) -> None:
    """max(1, 8 // TP) heads of 2 x 16 values, 6 layers, 2 bytes."""
    assert shards.kv_bytes_per_token(_model(), "bf16", Parallel(tensor=tensor)) == 6 * heads * 32 * 2


def test_uneven_stages_give_the_rest_before_the_last() -> None:
    """10 layers over 4 stages: 2, 3, 3, 2."""
    assert [len(stage) for stage in shards.stages(10, 4)] == [2, 3, 3, 2]
    assert [len(stage) for stage in shards.stages(61, 2)] == [31, 30]


def test_experts_divide_over_ranks_and_their_width_over_the_rest() -> None:
    """8 experts: over 2 ranks 4 whole ones; TP4 with EP2 halves their width; EP3 leaves 3 on the fullest."""
    weight = Weight("e", 64, 128, "expert", "column", copies=8)
    assert shards.weight_share(weight, Parallel(tensor=2, expert=2)) == 1 / 2
    assert shards.weight_share(weight, Parallel(tensor=4, expert=2)) == 1 / 4
    assert shards.weight_share(weight, Parallel(data=3, expert=3)) == 3 / 8
    assert shards.weight_share(weight, Parallel(tensor=8)) == 1 / 8


def test_the_vocabulary_is_padded_to_64_rows() -> None:
    """100 rows -> 128; TP2 holds 64 of them; an ideal engine pads nothing."""
    head = _model().head
    assert head is not None
    assert shards.weight_share(head, Parallel()) == 1.28
    assert shards.weight_share(head, Parallel(tensor=2)) == 0.64
    # 6 x (128 x 128 + 128 x 128 + 8 x 64 x 128) + 2 x 100 x 128 parameters
    assert shards.weight_bytes(_model(), nominal=True) == 2 * (6 * (2 * 128 * 128 + 8 * 64 * 128) + 2 * 100 * 128)


def test_the_fullest_stage_counts() -> None:
    """Six layers over two stages; embedding on the first, head on the last: both hold 3 layers and one table."""
    layer = 2 * (2 * 128 * 128 + 8 * 64 * 128)
    assert shards.weight_bytes_by_stage(_model(), Parallel(pipeline=2)) == (3 * layer + 2 * 128 * 128,) * 2


def test_windows_and_strides() -> None:
    """At most 100 tokens of 256 values x 2 bytes, 6 layers; one entry for every 4 tokens, whole."""
    model = _model(window=100)
    each = 6 * 256 * 2
    assert shards.cache_bytes(model, 64, "bf16") == 64 * each
    assert shards.cache_bytes(model, 5000, "bf16") == 100 * each
    assert shards.kv_bytes_per_token(model, "bf16") == each
    tokens = numpy.array([64.0, 5000.0])
    assert shards.cache_bytes(model, tokens, "bf16").tolist() == [64 * each, 100 * each]
    assert shards.kept(CacheEntry(512, stride=4), 1027) == 256


def test_cross_attention_is_sized_by_image_tokens() -> None:
    mixer = Mixer("cross-attention", cache=(CacheEntry(2048, 8, role="cross"),))
    model = Model("m", 1, 1, (LayerGroup((0,), (mixer,)),))
    assert shards.cache_bytes(model, 10_000, "bf16", image_tokens=1600) == 1600 * 2048 * 2
    assert shards.kv_bytes_per_token(model, "bf16") == 0


def test_state_splits_by_heads() -> None:
    """Convolution 2 bytes, state 4: (30 x 2 + 100 x 4) / 2 on each of two ranks."""
    model = Model("m", 1, 1, (LayerGroup((0, 1), (Mixer("mamba-2", state=RecurrentState(30, 100, shards=4)),)),))
    assert shards.state_bytes(model) == 2 * 460
    assert shards.state_bytes(model, Parallel(tensor=2)) == 460


def test_cache_precisions() -> None:
    """fp8 halves; q8_0 is 34 bytes for 32 values; a latent in fp8_ds_mla 656 bytes for 576 values."""
    model = _model()
    whole = 6 * 256 * 2
    assert shards.kv_bytes_per_token(model, "fp8_e4m3") == whole / 2
    assert shards.kv_bytes_per_token(model, "q8_0") == whole / 2 * 34 / 32
    mixer = Mixer("latent-attention", cache=(CacheEntry(576, role="latent"),))
    latent = Model("m", 1, 1, (LayerGroup((0,), (mixer,)),))
    assert shards.kv_bytes_per_token(latent, "fp8_ds_mla") == 656
