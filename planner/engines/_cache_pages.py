"""How vLLM cuts a cache of unlike layers into equal pages.

Layers of one kind form tables of `group_size` layers; all tables draw blocks from one pool, so a page must have
one size: kinds with fewer bytes a token get longer blocks, and where there is recurrent state the attention block
grows until its page covers a state. Source: vLLM, `vllm/v1/core/kv_cache_utils.py` and the hybrid models'
`verify_and_update_config`.
"""

from __future__ import annotations

import math

from planner.engines._cache_layers import CacheKind, full_token_bytes
from planner.engines._recurrent_prefixes import Mode
from planner.physics.paged_cache import PagedCache, PageGroup


def pages(
    found: dict[CacheKind, int],
    block_tokens: int,
    batched_tokens: int,
    *,
    windows: bool = True,
    kept_states: Mode = "none",
    chunk_tokens: int = 1,
    drafted: int = 0,
) -> PagedCache:
    """The paged cache of one rank's layers.

    windows: whether the engine frees what left a window; without it every layer keeps all tokens.
    kept_states: which recurrent states prefix caching keeps. chunk_tokens: of the recurrent kernels, whole numbers of
    which make a block where a state is kept for every block. drafted: tokens of a step whose states are kept too.
    """
    attention = {kind: count for kind, count in found.items() if kind.token_bytes > 0}
    states = {kind: count for kind, count in found.items() if kind.state_bytes > 0}
    if not windows:
        attention = _without_windows(attention)
    if not states and len({kind.window for kind in attention}) <= 1:
        window = next(iter(attention)).window if attention else None
        group = PageGroup(1, block_tokens, _reach(window, batched_tokens))
        return PagedCache(block_tokens * full_token_bytes(attention), (group,))
    return _hybrid(attention, states, block_tokens, batched_tokens, kept_states, chunk_tokens, drafted)


def _without_windows(attention: dict[CacheKind, int]) -> dict[CacheKind, int]:
    merged: dict[CacheKind, int] = {}
    for kind, count in attention.items():
        whole = CacheKind(token_bytes=kind.token_bytes)
        merged[whole] = merged.get(whole, 0) + count
    return merged


def _reach(window: int | None, batched_tokens: int) -> int | None:
    """Tokens of a window layer alive at once: those that the oldest query of a step still sees, and the step's own."""
    return None if window is None else window - 1 + batched_tokens


def _hybrid(
    attention: dict[CacheKind, int],
    states: dict[CacheKind, int],
    block_tokens: int,
    batched_tokens: int,
    kept_states: Mode,
    chunk_tokens: int,
    drafted: int,
) -> PagedCache:
    largest_token = max((kind.token_bytes for kind in attention), default=0.0)
    largest_state = max((kind.state_bytes for kind in states), default=0.0)
    step = chunk_tokens if states and kept_states == "all" else block_tokens
    block = max(block_tokens, step)
    if largest_state and largest_token:
        block = max(block, math.ceil(largest_state / (step * largest_token)) * step)
    page = block * largest_token if largest_token else largest_state
    size = group_size([*attention.values(), *states.values()])
    groups = [
        PageGroup(math.ceil(count / size), max(1, int(page / kind.token_bytes)), _reach(kind.window, batched_tokens))
        for kind, count in attention.items()
    ]
    groups += [_states(math.ceil(count / size), block, kept_states, drafted) for count in states.values()]
    return PagedCache(size * page, tuple(groups))


def _states(tables: int, block: int, kept: Mode, drafted: int) -> PageGroup:
    """Pages of states: one for each block of tokens where all are kept, else the running one and an aligned one.

    Drafted tokens have one each beside them. Source: vLLM, `MambaSpec.max_memory_usage_bytes`.
    """
    if kept == "all":
        return PageGroup(tables, block, None, drafted)
    return PageGroup(tables, 0, None, (2 if kept == "align" else 1) + drafted)


def group_size(counts: list[int]) -> int:
    """Layers of one table: the fewest of any kind, or the most where that is less than half as many again.

    Tables of a kind whose layers do not divide are padded: they cost as much as full ones.
    """
    fewest, most = min(counts), max(counts)
    return most if most < 1.5 * fewest else fewest
