"""Layers of a GGUF file: which mixer a block's tensors make, what it caches, and which blocks are equal."""

from __future__ import annotations

from dataclasses import dataclass

from planner.architectures import gguf_weights
from planner.architectures.gguf_fields import GgufFields
from planner.architectures.gguf_header import Tensor
from planner.architectures.gguf_recurrent import recurrent
from planner.domain.model import CacheEntry, FeedForward, LayerGroup, Mixer, MixerKind, Weight

Named = list[tuple[str, Tensor]]
_ATTENTION_NORMS = ("attn_q_norm", "attn_k_norm", "attn_q_a_norm", "attn_kv_a_norm", "indexer.k_norm")


@dataclass(frozen=True, slots=True)
class _Layer:
    mixers: tuple[Mixer, ...]
    feed_forwards: tuple[FeedForward, ...]
    norms: tuple[Weight, ...]


def groups(blocks: dict[int, Named], fields: GgufFields) -> tuple[LayerGroup, ...]:
    """Groups of equal blocks, in the order of their first."""
    found: dict[_Layer, list[int]] = {}
    for index in sorted(blocks):
        found.setdefault(_layer(index, blocks[index], fields), []).append(index)
    return tuple(
        LayerGroup(tuple(layers), layer.mixers, layer.feed_forwards, layer.norms) for layer, layers in found.items()
    )


def _layer(index: int, tensors: Named, fields: GgufFields) -> _Layer:
    sizes = fields.sizes(index)
    names = {_base(name) for name, _ in tensors}
    state = recurrent(names, fields)
    # Gated delta layers name their input product attn_qkv; only a parallel layer has both a state and a cache.
    attends = bool(names & {"attn_k", "attn_kv_a_mqa"}) or (state is None and "attn_qkv" in names)
    parts: dict[str, list[Weight]] = {"attention": [], "state": [], "feed-forward": [], "around": []}
    for name, tensor in tensors:
        parts[_part(_base(name), attends)].append(gguf_weights.weight(name, tensor, sizes))
    mixers = []
    if attends:
        mixers.append(_attention(index, dict(tensors), tuple(parts["attention"]), fields))
    if state is not None or parts["state"]:
        mixers.append(_with(state or Mixer("none"), tuple(parts["state"])))
    return _Layer(tuple(mixers), _feed_forward(tuple(parts["feed-forward"])), tuple(parts["around"]))


def _base(name: str) -> str:
    return name.removesuffix(".weight").removesuffix(".bias")


def _part(base: str, attends: bool) -> str:
    """Which part of its layer a tensor belongs to."""
    if base.startswith(("ssm_", "time_mix", "shortconv")):
        return "state"
    if base.startswith(("ffn_", "exp_probs", "channel_mix")) and "norm" not in base:
        return "feed-forward"
    if base in _ATTENTION_NORMS or (base.startswith(("attn_", "cross_attn", "indexer")) and "norm" not in base):
        return "attention" if attends else "state"
    return "around"


def _with(mixer: Mixer, weights: tuple[Weight, ...]) -> Mixer:
    return Mixer(
        mixer.kind, weights, state=mixer.state, heads=mixer.heads, key_dim=mixer.key_dim, value_dim=mixer.value_dim
    )


def _feed_forward(weights: tuple[Weight, ...]) -> tuple[FeedForward, ...]:
    if not weights:
        return ()
    experts = next((weight for weight in weights if weight.role == "expert" and weight.inputs > 1), None)
    down = [weight for weight in weights if weight.name in ("ffn_down", "ffn_down_shexp")]
    width = down[0].inputs if down else 0
    if experts is None:
        return (FeedForward("dense", weights, width),)
    each = next((weight.inputs for weight in weights if weight.name == "ffn_down_exps"), experts.outputs)
    return (FeedForward("experts", weights, each, experts.copies, experts.active_copies or 0, width),)


def _attention(index: int, tensors: dict[str, Tensor], weights: tuple[Weight, ...], fields: GgufFields) -> Mixer:
    if "attn_kv_a_mqa.weight" in tensors:
        return _latent(tensors, weights, fields)
    heads, kv_heads = fields.heads[index], max(1, fields.kv_heads[index])
    key_dim, value_dim = fields.head_dims(index)
    for name in ("attn_k.weight", "attn_v.weight"):
        if name in tensors and tensors[name].shape[-1] % kv_heads:
            fields.problem(
                "attention.head_count_kv", f"{kv_heads} heads do not divide {tensors[name].shape[-1]} outputs of {name}"
            )
    if "attn_k.weight" in tensors:
        key_dim = tensors["attn_k.weight"].shape[-1] // kv_heads
        value_dim = tensors.get("attn_v.weight", tensors["attn_k.weight"]).shape[-1] // kv_heads
    window = fields.windows[index]
    kind: MixerKind = "full-attention"
    if window is not None:
        kind = "chunked-attention" if fields.chunked else "sliding-attention"
    cache = () if index >= fields.first_shared else (CacheEntry(kv_heads * (key_dim + value_dim), kv_heads, window),)
    return Mixer(
        kind, weights, cache, heads=heads, kv_heads=kv_heads, key_dim=key_dim, value_dim=value_dim, window=window,
        query_key_norm="attn_q_norm.weight" in tensors,
    )  # fmt: skip


def _latent(tensors: dict[str, Tensor], weights: tuple[Weight, ...], fields: GgufFields) -> Mixer:
    """The latent and its rotary part are the outputs of attn_kv_a_mqa; per-head sizes are metadata."""
    cached = tensors["attn_kv_a_mqa.weight"].shape[-1]
    rank = fields.count("attention.kv_lora_rank", cached)
    cache = [CacheEntry(cached, role="latent")]
    index_dim = fields.count("attention.indexer.key_length", 0)
    sparse = any(name.startswith("indexer") for name in tensors) and index_dim > 0
    if sparse:
        cache.append(CacheEntry(index_dim, role="index", format="fp8_index"))
    key_dim = fields.count("attention.key_length_mla", fields.count("attention.key_length", 0))
    return Mixer(
        "sparse-latent-attention" if sparse else "latent-attention",
        weights,
        tuple(cache),
        heads=fields.heads[0],
        kv_heads=1,
        key_dim=key_dim,
        value_dim=fields.count("attention.value_length_mla", fields.count("attention.value_length", 0)),
        decode_key_dim=cached,
        decode_value_dim=rank,
        sparse_tokens=(fields.count("attention.indexer.top_k", 0) or None) if sparse else None,
        index_heads=fields.count("attention.indexer.head_count", 0) if sparse else 0,
        index_dim=index_dim if sparse else 0,
    )
