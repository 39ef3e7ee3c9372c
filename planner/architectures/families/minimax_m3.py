"""MiniMax-M3: block-sparse attention chosen by an index, experts as wide as `intermediate_size`, one shared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.architectures import weights
from planner.architectures.decoder import experts, grouped_attention, layer_types, pre_norms, sparse_layers, width
from planner.architectures.feed_forward import gated
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, layer_count
from planner.domain.model import CacheEntry, Mixer, Model

MODEL_TYPES = ("minimax_m3", "minimax_m3_vl_text", "minimax_m3_vl", "minimax_m3_sparse")
DEFAULTS: dict[str, dict[str, Any]] = {
    name: {"head_dim": 128, "dense_intermediate_size": 12288, "shared_intermediate_size": 3072} for name in MODEL_TYPES
}


def read(fields: Fields) -> Model:
    """Dense layers are `dense_intermediate_size` wide; sparse ones keep an index key of `sparse_index_dim` as well."""
    layers, inner = layer_count(fields), width(fields)
    attention = grouped_attention(fields, query_key_norm="head")
    hidden = attention.hidden
    mixture = experts(
        fields, width=inner, shared_width=fields.count("shared_intermediate_size"),
        router_bias=fields.flag("use_routing_bias"),
    )  # fmt: skip
    dense = gated(hidden, fields.optional("dense_intermediate_size") or inner)

    def build(kind: tuple[bool, bool]) -> Layer:
        mixer = _indexed(fields, attention.mixer(), hidden) if kind[0] else attention.mixer()
        return Layer((mixer,), (mixture.feed_forward() if kind[1] else dense,), pre_norms(hidden))

    kinds = list(zip(_indexes(fields, layers), sparse_layers(fields, layers), strict=True))
    return assemble(fields, group(kinds, build), tied=False)


def _indexes(fields: Fields, layers: int) -> list[bool]:
    """Which layers select blocks: by `layer_types`, else by `sparse_attention_freq`."""
    types = layer_types(fields, layers)
    if types:
        return ["sparse" in item for item in types]
    return [bool(item) for item in _section(fields).per_layer(layers, "sparse_attention_freq", default=0, smallest=0)]


def _section(fields: Fields) -> Fields:
    return fields.below("sparse_attention_config")


def _indexed(fields: Fields, mixer: Mixer, hidden: int) -> Mixer:
    """Queries of a few small heads, one key, a norm on each; whole blocks of keys are selected."""
    section = _section(fields)
    heads = fields.optional("index_n_heads") or section.optional("sparse_num_index_heads") or 4
    dim = fields.optional("index_head_dim") or section.optional("sparse_index_dim") or 128
    block = fields.optional("index_block_size") or section.optional("sparse_block_size") or 128
    blocks = fields.optional("index_topk_blocks") or section.optional("sparse_topk_blocks") or 16
    extra = (
        *weights.whole("self_attn.indexer.q_proj", heads * dim, hidden),
        *weights.whole("self_attn.indexer.k_proj", dim, hidden),
        *weights.norms(dim, "self_attn.indexer.q_norm", "self_attn.indexer.k_norm"),
    )
    return replace(
        mixer,
        kind="sparse-attention",
        weights=(*mixer.weights, *extra),
        cache=(*mixer.cache, CacheEntry(dim, role="index")),
        sparse_tokens=block * blocks,
        index_heads=heads,
        index_dim=dim,
    )
