"""What attention reads and computes: pairs of query and key, tokens that a window lets a query see."""

from __future__ import annotations

from typing import Any

from planner.physics import elementwise


def causal_pairs(new_tokens: Any, cached_tokens: Any) -> Any:
    """(query, key) pairs of `new_tokens` queries after `cached_tokens` keys: c (x + c/2).

    Each new token sees what came before it, half of its own chunk on average; the diagonal's c/2 is left out.
    """
    return new_tokens * (cached_tokens + new_tokens / 2.0)


def pair_flop(heads: Any, key_dim: Any, value_dim: Any) -> Any:
    """FLOP of one (query, key) pair: 2 heads (d_qk + d_v), a multiply and an add for each value of key and value."""
    return 2.0 * heads * (key_dim + value_dim)


def seen_tokens(context: Any, window: float | None) -> Any:
    """Tokens that a query sees: its context, at most the window (or what an index selects)."""
    return context if window is None else elementwise.minimum(context, window)


def windowed_pairs(pairs: Any, new_tokens: Any, window: float | None) -> Any:
    """Pairs of a prefill whose queries see at most `window` tokens: min(pairs, tokens x window)."""
    return pairs if window is None else elementwise.minimum(pairs, new_tokens * window)
