"""Nemotron-NAS (Llama-Nemotron, DeciLM): attention, KV heads and feed-forward width differ by layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.architectures import feed_forward, weights
from planner.architectures.decoder import HEAD_NAMES, MOST_HEADS, grouped_attention, width
from planner.architectures.fields import Fields
from planner.architectures.stack import Layer, assemble, group, hidden_size, layer_count
from planner.domain.model import FeedForward, Mixer, Model

MODEL_TYPES = ("nemotron-nas", "deci")
DEFAULTS: dict[str, dict[str, Any]] = {}
_Kind = tuple[str, int, str, int]


def read(fields: Fields) -> Model:
    """`block_configs`: attention no_op, replace_with_linear or n_heads_in_group; ffn_mult. DeciLM: KV heads only."""
    layers, hidden = layer_count(fields), hidden_size(fields)
    blocks = fields.sequence("block_configs")
    if blocks is not None and len(blocks) < layers:
        fields.problem("block_configs", f"{layers} items, one a layer, are expected; {len(blocks)} were read")
        blocks = [{}] * layers
    kinds = _deci(fields, layers) if blocks is None else [_kind(fields, block, hidden) for block in blocks[:layers]]

    def build(kind: _Kind) -> Layer:
        mixers, norm = _mixer(fields, kind[0], kind[1], hidden)
        fed, second = _feed_forward(fields, kind[2], kind[3], hidden)
        return Layer(mixers, fed, (*norm, *second))

    return assemble(fields, group(kinds, build), tied=False)


def _deci(fields: Fields, layers: int) -> list[_Kind]:
    heads = fields.per_layer(layers, "num_key_value_heads_per_layer", "num_key_value_heads")
    return [("attention", count, "dense", width(fields)) for count in heads]


def _kind(fields: Fields, block: Any, hidden: int) -> _Kind:
    block = block if isinstance(block, Mapping) else {}
    attention = Fields(block.get("attention") or {}, where="block_configs.attention.")
    dense = Fields(block.get("ffn") or {}, where="block_configs.ffn.")
    attention.problems = dense.problems = fields.problems
    attention.missing = dense.missing = fields.missing
    heads = fields.need(*HEAD_NAMES, largest=MOST_HEADS)
    first = "none" if attention.flag("no_op") else "linear" if attention.flag("replace_with_linear") else "attention"
    kv_heads = 0
    if first == "attention":
        in_group = attention.need("n_heads_in_group", largest=MOST_HEADS)
        attention.divides("n_heads_in_group", heads, in_group)
        kv_heads = max(1, heads // in_group)
    second = "none" if dense.flag("no_op") else "linear" if dense.flag("replace_with_linear") else "dense"
    return first, kv_heads, second, _width(fields, dense, hidden) if second == "dense" else 0


def _width(fields: Fields, dense: Fields, hidden: int) -> int:
    """2 ffn_mult h / 3, rounded up to 256; or the width itself."""
    declared = dense.optional("intermediate_size")
    multiplier = dense.number("ffn_mult", default=0.0)
    if not multiplier:
        return declared or width(fields)
    return -(-int(2 * multiplier * hidden / 3) // 256) * 256


def _mixer(fields: Fields, kind: str, kv_heads: int, hidden: int) -> tuple[tuple[Mixer, ...], tuple[Any, ...]]:
    norm = weights.norms(hidden, "input_layernorm")
    if kind == "attention":
        bias = fields.flag("attention_bias")
        return (grouped_attention(fields, kv_heads=kv_heads, input_bias=bias, output_bias=bias).mixer(),), norm
    if kind == "linear":
        return (Mixer("linear", weights.whole("self_attn.linear_attn", hidden, hidden)),), norm
    return (), ()


def _feed_forward(
    fields: Fields, kind: str, inner: int, hidden: int
) -> tuple[tuple[FeedForward, ...], tuple[Any, ...]]:
    norm = weights.norms(hidden, "post_attention_layernorm")
    if kind == "dense":
        return (feed_forward.gated(hidden, inner, bias=fields.flag("mlp_bias")),), norm
    if kind == "linear":
        return (FeedForward("dense", weights.whole("mlp.linear_mlp", hidden, hidden), hidden),), norm
    return (), ()
