"""Weights under the module names that checkpoints use, with how tensor parallelism splits each."""

from __future__ import annotations

from planner.domain.model import Role, Shard, Weight


def column(name: str, outputs: int, inputs: int, *, bias: bool = False, role: Role = "linear") -> tuple[Weight, ...]:
    """A product divided by its outputs, and its bias."""
    weight = Weight(name, outputs, inputs, role, "column")
    return (weight, Weight(f"{name}.bias", outputs, 1, "vector", "column")) if bias else (weight,)


def row(name: str, outputs: int, inputs: int, *, bias: bool = False, role: Role = "linear") -> tuple[Weight, ...]:
    """A product divided by its inputs; its bias is whole on every rank."""
    weight = Weight(name, outputs, inputs, role, "row")
    return (weight, Weight(f"{name}.bias", outputs, 1, "vector")) if bias else (weight,)


def per_kv_head(name: str, heads: int, head_dim: int, inputs: int, *, bias: bool = False) -> tuple[Weight, ...]:
    """A key or value product: divided in whole heads, copied beyond them."""
    weight = Weight(name, heads * head_dim, inputs, "linear", "kv", heads=heads)
    return (weight, Weight(f"{name}.bias", heads * head_dim, 1, "vector", "kv", heads=heads)) if bias else (weight,)


def whole(name: str, outputs: int, inputs: int, *, bias: bool = False, role: Role = "linear") -> tuple[Weight, ...]:
    """A product that every rank holds."""
    weight = Weight(name, outputs, inputs, role, "replicated")
    return (weight, Weight(f"{name}.bias", outputs, 1, "vector")) if bias else (weight,)


def vector(name: str, size: int, shard: Shard = "replicated") -> Weight:
    """A norm, a bias, or any other small tensor counted by its size."""
    return Weight(name, size, 1, "vector", shard)


def norms(size: int, *names: str, bias: bool = False) -> tuple[Weight, ...]:
    """Norms of one size; with `bias`, layer norms of scale and shift."""
    return tuple(vector(name, size * (2 if bias else 1)) for name in names)


def embedding(vocabulary: int, hidden: int, name: str = "model.embed_tokens") -> Weight:
    return Weight(name, vocabulary, hidden, "embedding", "vocabulary")


def positions(count: int, hidden: int, name: str = "model.embed_positions") -> Weight:
    return Weight(name, count, hidden, "position")


def head(vocabulary: int, hidden: int, name: str = "lm_head") -> Weight:
    return Weight(name, vocabulary, hidden, "head", "vocabulary")
