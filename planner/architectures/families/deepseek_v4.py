"""DeepSeek V4: one latent a token in a short window, compressed latents beyond it, hyper-connections."""

from __future__ import annotations

from typing import Any

from planner.architectures import prediction, weights
from planner.architectures.decoder import HEAD_NAMES, MOST_HEADS, experts, pre_norms
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import CacheEntry, Mixer, Model, Weight

MODEL_TYPES = ("deepseek_v4",)
DEFAULTS: dict[str, dict[str, Any]] = {
    "deepseek_v4": {"hc_mult": 4, "sliding_window": 128, "head_dim": 512, "index_head_dim": 128, "index_n_heads": 64},
}
_INDEXED = 4
"""Layers that compress by this ratio select entries with an index; those that compress more read all of them."""


def read(fields: Fields) -> Model:
    """`compress_ratios[i]`: 0 a window only, else one entry for so many tokens (prediction layers listed last)."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    ratios = fields.per_layer(layers, "compress_ratios", smallest=0)
    mixture = experts(fields)
    streams = fields.need("hc_mult", largest=64)
    norms = (*pre_norms(hidden), *_hyper_connections(streams, hidden))

    def build(ratio: int) -> Layer:
        return Layer((_mixer(fields, ratio),), (mixture.feed_forward(),), norms)

    predicted = fields.count("num_nextn_predict_layers")
    head = weights.vector("hc_head", streams * streams * hidden + streams + 1)
    return assemble(
        fields,
        group(ratios, build),
        tied=False,
        norms=(head,),
        prediction_layers=prediction.layers(build(0), layers, predicted),
        prediction_extra=prediction.extra(hidden, predicted),
    )


def _hyper_connections(streams: int, hidden: int) -> tuple[Weight, ...]:
    """For mixer and feed-forward each: a product of the streams, its base, and three scales."""
    rows = streams * (streams + 2)
    return tuple(
        item
        for name in ("attn_hc", "ffn_hc")
        for item in (
            *weights.whole(f"{name}.fn", rows, streams * hidden, role="router"),
            weights.vector(f"{name}.base_scale", rows + 3),
        )
    )


def _mixer(fields: Fields, ratio: int) -> Mixer:
    hidden, heads = hidden_size(fields), fields.need(*HEAD_NAMES, largest=MOST_HEADS)
    dim, window = fields.need("head_dim"), fields.need("sliding_window")
    cache = [CacheEntry(dim, window=window, role="latent")]
    extra: tuple[Weight, ...] = ()
    if ratio:
        cache.append(CacheEntry(dim, stride=ratio, role="latent"))
        extra = _compressor(hidden, dim, ratio)
    index_heads, index_dim = fields.need("index_n_heads"), fields.need("index_head_dim")
    indexed = ratio == _INDEXED
    if indexed:
        cache.append(CacheEntry(index_dim, stride=ratio, role="index", format="fp8_index"))
        extra += _indexer(hidden, index_heads, index_dim, fields.need("q_lora_rank"), ratio)
    return Mixer(
        kind="compressed-attention",
        weights=(*_products(fields, hidden, heads, dim), *extra),
        cache=tuple(cache),
        heads=heads,
        kv_heads=1,
        key_dim=dim,
        value_dim=dim,
        window=None if ratio else window,
        sparse_tokens=window + fields.count("index_topk") if indexed else None,
        index_heads=index_heads if indexed else 0,
        index_dim=index_dim if indexed else 0,
    )


def _products(fields: Fields, hidden: int, heads: int, dim: int) -> tuple[Weight, ...]:
    """Low-rank queries, one latent for keys and values, a grouped low-rank output."""
    rank, groups, out = fields.need("q_lora_rank"), fields.need("o_groups"), fields.need("o_lora_rank")
    fields.divides("o_groups", heads * dim, groups)
    return (
        weights.vector("self_attn.sinks", heads, "column"),
        *weights.whole("self_attn.q_a_proj", rank, hidden),
        weights.vector("self_attn.q_a_norm", rank),
        *weights.column("self_attn.q_b_proj", heads * dim, rank),
        *weights.whole("self_attn.kv_proj", dim, hidden),
        weights.vector("self_attn.kv_norm", dim),
        *weights.column("self_attn.o_a_proj", groups * out, heads * dim // max(1, groups)),
        *weights.row("self_attn.o_b_proj", hidden, groups * out),
    )


def _compressor(hidden: int, dim: int, ratio: int, at: str = "self_attn.compressor") -> tuple[Weight, ...]:
    """Overlapping windows (ratio 4) keep two halves, so their products are twice as wide."""
    wide = dim * (2 if ratio == _INDEXED else 1)
    return (
        weights.vector(f"{at}.position_bias", ratio * wide),
        *weights.whole(f"{at}.kv_proj", wide, hidden),
        *weights.whole(f"{at}.gate_proj", wide, hidden),
        weights.vector(f"{at}.kv_norm", dim),
    )


def _indexer(hidden: int, heads: int, dim: int, rank: int, ratio: int) -> tuple[Weight, ...]:
    at = "self_attn.compressor.indexer"
    return (
        *_compressor(hidden, dim, ratio, at),
        *weights.whole(f"{at}.q_b_proj", heads * dim, rank),
        *weights.whole(f"{at}.scorer.weights_proj", heads, hidden),
    )
