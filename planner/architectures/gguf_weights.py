"""Tensors of a GGUF file as weights: what each is for and how it is split, by the names that llama.cpp gives them."""

from __future__ import annotations

from dataclasses import dataclass

from planner.architectures.gguf_header import Tensor
from planner.domain import formats
from planner.domain.model import Role, Shard, Weight

_COLUMN = ("attn_q", "attn_q_b", "attn_kv_b", "attn_k_b", "attn_v_b", "attn_gate", "ffn_gate", "ffn_up", "attn_qkv",
           "ffn_gate_shexp", "ffn_up_shexp", "ssm_in", "ffn_gate_up", "cross_attn_q_proj")  # fmt: skip
_ROW = ("attn_output", "ffn_down", "ffn_down_shexp", "ssm_out", "time_mix_output", "cross_attn_o_proj")
_BY_HEAD = ("attn_k", "attn_v", "cross_attn_k_proj", "cross_attn_v_proj")
_EMBEDDINGS = ("token_embd", "per_layer_token_embd", "token_types")
_CONVOLUTIONS = ("ssm_conv1d", "ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v", "shortconv.conv")


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the metadata says that shapes do not. dtype: the format that goes without saying."""

    dtype: str
    kv_heads: int = 1
    experts_per_token: int | None = None


def weight(name: str, tensor: Tensor, sizes: Sizes) -> Weight:
    """One tensor. name: without `blk.N.`; a trailing `.weight` is dropped."""
    name = name.removesuffix(".weight")
    base = name.removesuffix(".bias")
    stored = None if tensor.format == sizes.dtype else tensor.format
    if base.endswith("_exps"):
        return _experts(name, tensor, sizes, stored)
    inputs, outputs = tensor.shape[0], 1
    for size in tensor.shape[1:]:
        outputs *= size
    # A vector is one column, except in formats that pack its values in blocks.
    if outputs == 1 and not formats.known(tensor.format).group:
        inputs, outputs = 1, tensor.shape[0]
    shard = _shard(base, name != base)
    heads = sizes.kv_heads if shard == "kv" else 1
    return Weight(name, outputs, inputs, _role(base, tensor), shard, heads=heads, format=stored)


def _experts(name: str, tensor: Tensor, sizes: Sizes, stored: str | None) -> Weight:
    """Experts lie along the last dimension: [inputs, outputs, experts], or [outputs, experts] of a bias."""
    count = tensor.shape[-1]
    inner = (*tensor.shape[:-1], 1, 1)
    inputs, outputs = (inner[0], inner[1]) if len(tensor.shape) > 2 else (1, inner[0])
    shard: Shard = "row" if "down" in name and inputs > 1 else "column"
    used = min(sizes.experts_per_token or count, count)
    return Weight(name, outputs, inputs, "expert", shard, count, used, format=stored)


def _role(base: str, tensor: Tensor) -> Role:
    if base in _EMBEDDINGS:
        return "embedding"
    if base == "position_embd":
        return "position"
    if base in _CONVOLUTIONS:
        return "convolution"
    if len(tensor.shape) == 1 or max(tensor.shape[1:]) == 1:
        return "vector"
    if base == "output":
        return "head"
    return "router" if base == "ffn_gate_inp" else "linear"


def _shard(base: str, is_bias: bool) -> Shard:
    if base in _BY_HEAD:
        return "kv"
    if base in _COLUMN:
        return "column"
    if base in ("token_embd", "output"):
        return "vocabulary"
    return "row" if base in _ROW and not is_bias else "replicated"
