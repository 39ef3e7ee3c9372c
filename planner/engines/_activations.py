"""Activations that are alive at once in the widest layer of a model, on one rank, in one prefill step."""

from __future__ import annotations

from planner.domain.model import FeedForward, LayerGroup, Mixer, Model
from planner.domain.shards import Parallel, heads_per_rank
from planner.engines._expert_buffers import ExpertKernel
from planner.engines._expert_buffers import peak_bytes as expert_peak_bytes
from planner.physics import engine_memory

SCAN_CHUNK, DELTA_CHUNK = 256, 64
"""Tokens of a chunk: mamba_ssm's scan, flash-linear-attention's delta rule."""


def peak_bytes(model: Model, parallel: Parallel, tokens: int, kernel: ExpertKernel, expanded_tokens: int = 0) -> float:
    """Peak of one prefill step of `tokens` over the layers of a model, on one rank.

    expanded_tokens: earlier tokens whose cached latent is expanded to keys and values of every head at once.
    """
    found = [0.0]
    for group in model.groups:
        for mixer in group.mixers:
            values = _recurrent if mixer.state is not None else _attention
            peak = engine_memory.prefill_peak_bytes(tokens, values(mixer, model.hidden, parallel))
            found.append(peak + engine_memory.prefill_peak_bytes(expanded_tokens, _expanded(mixer, parallel)))
        found += [_feed_forward(item, model, parallel, tokens, kernel) for item in group.feed_forwards]
    return max(found)


def _feed_forward(item: FeedForward, model: Model, parallel: Parallel, tokens: int, kernel: ExpertKernel) -> float:
    if item.kind == "none":
        return 0.0
    dense = item.shared_width if item.experts else item.width
    values = engine_memory.feed_forward_values(model.hidden, dense / parallel.tensor)
    found = float(engine_memory.prefill_peak_bytes(tokens, values))
    if not item.experts:
        return found
    return max(found, expert_peak_bytes(item, model, parallel, tokens, kernel))


def _attention(item: Mixer, hidden: int, parallel: Parallel) -> float:
    if item.heads == 0:
        return 0.0
    heads = heads_per_rank(item.heads, parallel.tensor)
    latent = item.kind in ("latent-attention", "sparse-latent-attention")
    # Prefill expands a latent to keys and values of every head.
    cached = heads if latent else heads_per_rank(item.kv_heads or item.heads, parallel.tensor)
    keys_values = cached * (item.key_dim + item.value_dim)
    return float(engine_memory.attention_values(hidden, heads * item.key_dim, keys_values, heads * item.value_dim))


def _recurrent(item: Mixer, hidden: int, parallel: Parallel) -> float:
    """Layers that keep a state: a scan, or a delta rule in chunks whose states are all kept until the step ends."""
    heads = heads_per_rank(item.heads, parallel.tensor)
    values = heads * item.value_dim
    if not item.kind.endswith(("delta-net", "delta-attention")):
        states = 2.0 * values * item.key_dim / SCAN_CHUNK if item.kind == "mamba-2" else 0.0
        return float(engine_memory.scan_values(hidden, values, states))
    keys = heads_per_rank(item.kv_heads or item.heads, parallel.tensor) * item.key_dim
    decays = keys if item.kind == "kimi-delta-attention" else heads
    return float(
        engine_memory.delta_rule_values(
            hidden,
            keys,
            values,
            gates=4.0 * decays,
            rows=3.0 * heads * DELTA_CHUNK,
            chunk_states=values * item.key_dim / DELTA_CHUNK,
        )
    )


def _expanded(item: Mixer, parallel: Parallel) -> float:
    """Values that one cached latent expands to: for each head a key without its shared rotary part, and a value."""
    if item.kind != "latent-attention":
        return 0.0
    rotary = (item.decode_key_dim or 0) - (item.decode_value_dim or 0)
    return float(heads_per_rank(item.heads, parallel.tensor) * (item.key_dim - max(0, rotary) + item.value_dim))


def widest_heads(groups: tuple[LayerGroup, ...]) -> int:
    """Query heads of the layer that has most of them."""
    return max((mixer.heads for group in groups for mixer in group.mixers if mixer.attends), default=0)
