"""A cache cut into blocks: how many there are, how many a sequence takes, and how long a sequence may be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageGroup:
    """Layers that share one block table.

    tables: block tables of this kind (groups of layers). block_tokens: tokens of one block, 0 for a state
    that takes whole blocks whatever the length. window: tokens that are kept at most, with one step's new
    tokens on top; None keeps all. state_blocks: blocks of states, whatever the length.
    """

    tables: int
    block_tokens: int
    window: int | None = None
    state_blocks: int = 0

    def blocks(self, tokens: int) -> int:
        """Blocks that one sequence of `tokens` takes from the pool.

        all kept: ceil(tokens/block); window: min of that and ceil((window - 1)/block) + 1; states: fixed.
        `window` already holds the step's tokens. Source: vLLM, `max_memory_usage_bytes` of each cache spec.
        """
        if self.block_tokens == 0:
            return self.tables * self.state_blocks
        if self.window is None:
            return self.tables * (math.ceil(tokens / self.block_tokens) + self.state_blocks)
        return self.tables * (math.ceil(min(tokens, self.window) / self.block_tokens) + 1)


@dataclass(frozen=True, slots=True)
class PagedCache:
    """One pool of equal blocks, shared by every group. block_bytes: one block over all layers of a group."""

    block_bytes: float
    groups: tuple[PageGroup, ...]

    def pool_blocks(self, pool_bytes: float) -> int:
        """Whole blocks of a pool: floor(pool/block), 0 where it is negative. More memory never gives fewer."""
        return max(0, math.floor(pool_bytes / self.block_bytes)) if self.block_bytes > 0 else 0

    def sequence_blocks(self, tokens: int) -> int:
        return sum(group.blocks(tokens) for group in self.groups)

    def sequence_bytes(self, tokens: int) -> float:
        return self.sequence_blocks(tokens) * self.block_bytes

    @property
    def block_tokens(self) -> int:
        """The smallest block that holds tokens."""
        return min((group.block_tokens for group in self.groups if group.block_tokens), default=1)

    @property
    def tables(self) -> int:
        return sum(group.tables for group in self.groups)

    def longest(self, blocks: int, limit: int) -> int:
        """The longest sequence that `blocks` hold, at most `limit`; 0 where not one token fits."""
        return longest_length(lambda tokens: self.sequence_blocks(tokens) <= blocks, limit)


def longest_length(fits: Callable[[int], bool], limit: int) -> int:
    """The largest length up to `limit` that fits, by bisection; `fits` must not come back once it is lost."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
