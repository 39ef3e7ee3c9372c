"""Recorded requests: when they came, and how long they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trace:
    """In order of arrival; all columns are of one length, or empty where the recording has none.

    arrival_s: seconds since the first. input_tokens, output_tokens: of each. prefixes: identities of the blocks of
    each prompt from its beginning, `block_tokens` tokens each. sessions: which requests belong together. source: the
    file, as the spec names it.
    """

    arrival_s: Sequence[float]
    input_tokens: Sequence[int]
    output_tokens: Sequence[int]
    prefixes: Sequence[Sequence[int]] = ()
    sessions: Sequence[int] = ()
    block_tokens: int = 512
    source: str = ""

    @property
    def duration_s(self) -> float:
        return self.arrival_s[-1] - self.arrival_s[0] if len(self.arrival_s) > 1 else 0.0
