"""Prefix cache of finite size: pieces of prompts that stay in free blocks until the blocks are needed.

Pieces in use are held, with the number of requests that use them, and count as used blocks once. Pieces that no
request uses are resident: they stand in free blocks, the least recently used first in line to go, from their end. A
prompt that ends inside of a piece holds its beginning; what is known of the rest stays resident.

A host tier, where there is one, gets a copy of every piece that becomes resident and keeps it, the least recently used
first in line to go, when the engine's own blocks are taken.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.traffic.block_pool import BlockPool


@dataclass(slots=True)
class PrefixCache:
    """Of one engine. looked_up, hits: prompt tokens asked for and found, over all requests.

    host_blocks: of the host tier; 0: there is none. host: {piece: blocks}, the least recently used first.
    """

    pool: BlockPool
    host_blocks: int = 0
    host: OrderedDict[Any, int] = field(default_factory=OrderedDict)
    host_used: int = 0
    held: dict[Any, list[int]] = field(default_factory=dict)
    resident: OrderedDict[Any, int] = field(default_factory=OrderedDict)
    resident_blocks: int = 0
    looked_up: int = 0
    hits: int = 0
    evicted_blocks: int = 0

    def look_up(self, prefixes: Sequence[tuple[Any, int]]) -> tuple[int, int]:
        """Tokens from the beginning of a prompt that are here, and those after them that the host has.

        Pieces in order, up to the first that is not whole. What is here again after a gap is fetched all the same.
        """
        here, on_host = 0, 0
        size = self.pool.size
        for key, tokens in prefixes:
            whole = tokens // size
            own = min(self._held(key) + self.resident.get(key, 0), whole)
            found = max(own, min(self.host.get(key, 0), whole)) if self.host else own
            if on_host:
                own = 0
            here += own * size
            on_host += (found - own) * size
            if found < whole:
                break
        return here, on_host

    def _held(self, key: Any) -> int:
        entry = self.held.get(key)
        return entry[0] if entry is not None else 0

    def new_blocks(self, prefixes: Sequence[tuple[Any, int]]) -> int:
        """Blocks that holding the pieces would take from what is free: those that no other request holds."""
        size = self.pool.size
        return sum(max(tokens // size - self._held(key), 0) for key, tokens in prefixes)

    def hold(self, prefixes: Sequence[tuple[Any, int]]) -> tuple[Any, ...]:
        """A request begins to use the pieces; those that are not here yet it is going to compute."""
        size = self.pool.size
        for key, tokens in prefixes:
            entry = self.held.setdefault(key, [0, 0])
            more = tokens // size - entry[0]
            if more > 0:
                self._take(key, more)
                entry[0] += more
            entry[1] += 1
        return tuple(key for key, _ in prefixes)

    def _take(self, key: Any, blocks: int) -> None:
        """The next blocks of a piece are held: what is resident of them, the rest to be computed."""
        self.pool.used += blocks
        known = self.resident.pop(key, 0)
        taken = min(known, blocks)
        self.resident_blocks -= taken
        if known > taken:
            self.resident[key] = known - taken

    def release(self, keys: Sequence[Any], replaced: Any = None) -> None:
        """A request ends: those of its pieces that nobody else uses become resident, but for `replaced`."""
        for key in keys:
            entry = self.held[key]
            entry[1] -= 1
            if entry[1] == 0:
                del self.held[key]
                self.pool.used -= entry[0]
                if key != replaced:
                    self.keep(key, entry[0] + self.resident.get(key, 0))

    def keep(self, key: Any, blocks: int) -> None:
        """Free blocks go on holding a piece, as the most recently used."""
        if key in self.held or blocks <= 0:
            return
        self.resident_blocks += blocks - self.resident.pop(key, 0)
        self.resident[key] = blocks
        if self.host_blocks:
            self._copy(key, blocks)
        self.make_room()

    def _copy(self, key: Any, blocks: int) -> None:
        """To the host, as the most recently used; what is over goes, from the end of the least recently used."""
        known = self.host.pop(key, 0)
        self.host[key] = max(known, blocks)
        self.host_used += self.host[key] - known
        while self.host_used > self.host_blocks:
            oldest, size = next(iter(self.host.items()))
            lost = min(size, self.host_used - self.host_blocks)
            self.host_used -= lost
            if lost == size:
                del self.host[oldest]
            else:
                self.host[oldest] = size - lost

    def make_room(self) -> None:
        """Resident pieces fit into what is free: the least recently used lose blocks, from their end."""
        over = self.resident_blocks - self.pool.free
        while over > 0 and self.resident:
            key = next(iter(self.resident))
            blocks = self.resident[key]
            lost = min(blocks, over)
            if lost == blocks:
                del self.resident[key]
            else:
                self.resident[key] = blocks - lost
            self.resident_blocks -= lost
            self.evicted_blocks += lost
            over -= lost
