"""A request as the simulation sees it, and what became of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

UNSET = math.nan


@dataclass(slots=True)
class Request:
    """Tokens and times (seconds) of one request.

    prompt: tokens sent, images included. output: tokens answered, 1 at least. reserved: the answer that it promises
    not to exceed, which `reserve-maximum` holds cache for. cached: prompt tokens that are always found in the cache
    (a declared hit rate). prefixes: (key, tokens) of shared pieces of the prompt from its beginning, which a prefix
    cache of finite size looks up; the last key may stand for the whole of an earlier turn. kept: key under which the
    context stays in that cache afterwards. owner: index of the request's class. arrival_s: first, from which
    latencies count; ready_s: when this engine gets it (later than the arrival after a transfer or a retry).
    """

    arrival_s: float
    prompt: int
    output: int
    reserved: int = 0
    cached: int = 0
    owner: int = 0
    session: int = -1
    turn: int = 0
    prefixes: tuple[tuple[Any, int], ...] = ()
    kept: Any = None
    ready_s: float = UNSET
    remote: int = 0
    whole: Request | None = None
    scheduled_s: float = UNSET
    first_token_s: float = UNSET
    finished_s: float = UNSET
    rejected: str = ""
    preemptions: int = 0
    found: int = 0
    fetched: int = 0
    # of the engine that runs it
    context: float = 0.0
    computed: int = 0
    target: int = 0
    emitted: int = 0
    started: float = 0.0
    blocks: int = 0
    epoch: int = 0
    running: bool = False
    fetching: bool = False
    held: tuple[Any, ...] = field(default=())

    def __post_init__(self) -> None:
        if math.isnan(self.ready_s):
            self.ready_s = self.arrival_s

    def prompt_alone(self) -> Request:
        """What a pool that computes prompts gets of it: one token to sample, which the other pool samples anew."""
        return Request(
            self.arrival_s, self.prompt, 1, 1, self.cached, self.owner, self.session, self.turn, self.prefixes,
            self.kept, self.ready_s, whole=self,
        )  # fmt: skip

    @property
    def time_to_first_token_s(self) -> float:
        return self.first_token_s - self.arrival_s

    @property
    def latency_s(self) -> float:
        return self.finished_s - self.arrival_s

    @property
    def time_per_output_token_s(self) -> float:
        """Mean gap after the first token; 0 where there is none."""
        return (self.finished_s - self.first_token_s) / (self.output - 1) if self.output > 1 else 0.0
