"""Activations of one token that are alive at once in the widest layer of a model, on one rank."""

from __future__ import annotations

from planner.domain.model import FeedForward, LayerGroup, Mixer, Model
from planner.domain.shards import Parallel, heads_per_rank
from planner.physics.engine_memory import attention_values, feed_forward_values


def peak_values(model: Model, parallel: Parallel, expert_workspaces: int = 1) -> float:
    """Values of one token at the peak of the widest layer (see `planner.physics.engine_memory`).

    expert_workspaces: buffers of hidden width that the expert kernels keep for each expert of a token.
    """
    found = [0.0]
    for group in model.groups:
        found += [_feed_forward(item, model.hidden, parallel, expert_workspaces) for item in group.feed_forwards]
        found += [_attention(item, model.hidden, parallel) for item in group.mixers]
    return max(found)


def _feed_forward(item: FeedForward, hidden: int, parallel: Parallel, workspaces: int) -> float:
    if item.kind == "none":
        return 0.0
    if item.experts == 0:
        return float(feed_forward_values(hidden, item.width / parallel.tensor))
    # Expert ranks hold whole experts, and see their share of the tokens' copies: the same product either way.
    width = (item.width * item.experts_per_token + item.shared_width) / parallel.tensor
    return float(feed_forward_values(hidden, width, workspaces * item.experts_per_token))


def _attention(item: Mixer, hidden: int, parallel: Parallel) -> float:
    if item.heads == 0:
        return 0.0
    heads = heads_per_rank(item.heads, parallel.tensor)
    latent = item.kind in ("latent-attention", "sparse-latent-attention")
    # Prefill expands a latent to keys and values of every head.
    cached = heads if latent else heads_per_rank(item.kv_heads or item.heads, parallel.tensor)
    keys_values = cached * (item.key_dim + item.value_dim)
    return float(attention_values(hidden, heads * item.key_dim, keys_values, heads * item.value_dim))


def widest_heads(groups: tuple[LayerGroup, ...]) -> int:
    """Query heads of the layer that has most of them."""
    return max((mixer.heads for group in groups for mixer in group.mixers if mixer.attends), default=0)
