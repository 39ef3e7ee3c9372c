"""Paged cache of one engine: blocks in use, and how many steps it lasts while every decoding sequence grows.

A sequence of c tokens holds ceil(c / block) blocks. All decoding sequences grow by the same tokens each step, so a
sequence's phase, (c - clock) mod block, stays what it is while it decodes, `clock` counting the tokens that each has
grown. Counting sequences by phase gives the blocks that the next m tokens need without looking at any of them:

    needed(m) = B floor(m / block) + sum over the next (m mod block) phases of the sequences in them
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class BlockPool:
    """total: blocks of the cache. size: tokens a block. kept: blocks left free when a prompt is admitted."""

    total: int
    size: int
    kept: int = 0
    used: int = 0
    clock: int = 0
    growing: int = 0
    phases: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.phases = [0] * self.size

    @property
    def free(self) -> int:
        return self.total - self.used

    def blocks_for(self, tokens: int) -> int:
        """ceil(tokens / size)."""
        return -(-tokens // self.size)

    def join(self, tokens: int) -> None:
        """A sequence of `tokens` begins to grow."""
        self.phases[(tokens - self.clock) % self.size] += 1
        self.growing += 1

    def leave(self, tokens: int) -> None:
        """A sequence that has grown to `tokens` ends."""
        self.phases[(tokens - self.clock) % self.size] -= 1
        self.growing -= 1

    def tight(self, tokens: int) -> bool:
        """Whether the blocks might run out while every growing sequence takes so many tokens."""
        return (tokens // self.size + 1) * self.growing > self.free

    def needed(self, tokens: int) -> int:
        """Blocks that growing sequences take until each has grown by `tokens`.

        A sequence takes a block when its tokens, before it grows, fill whole blocks: phase + clock = 0 mod size.
        """
        size, phases = self.size, self.phases
        if tokens == 1:
            return phases[-self.clock % size]
        rounds, rest = divmod(tokens, size)
        found = rounds * self.growing
        if rest:  # the next phases, downwards and around
            last = -self.clock % size
            first = last - rest + 1
            found += sum(phases[max(first, 0) : last + 1])
            if first < 0:
                found += sum(phases[first:])
        return found

    def lasts(self, most: int) -> int:
        """Tokens that every growing sequence can take, `most` at most, before the blocks run out."""
        if self.growing == 0 or (most // self.size + 1) * self.growing <= self.free:
            return most
        rounds = self.free // self.growing
        tokens = rounds * self.size
        left = self.free - rounds * self.growing
        while tokens < most:
            left -= self.phases[-(self.clock + tokens) % self.size]
            if left < 0:
                break
            tokens += 1
        return min(tokens, most)

    def grow(self, tokens: int) -> None:
        """Every growing sequence takes `tokens` more."""
        self.used += self.needed(tokens)
        self.clock += tokens
