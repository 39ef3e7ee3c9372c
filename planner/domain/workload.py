"""What is asked of the deployment: load, classes of requests, lengths, growth; and the objectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from planner.domain.trace import Trace

Statistic = Literal["mean", "p50", "p90", "p95", "p99", "max"]
STATISTICS: tuple[Statistic, ...] = ("mean", "p50", "p90", "p95", "p99", "max")


@dataclass(frozen=True, slots=True)
class Length:
    """A distribution of token counts.

    points: {statistic: tokens} for each of mean p50 p90 p95 p99 max; those that the spec leaves out come
    from the declared ones (`planner.bind.lengths` says how). declared: the statistics that the spec gives.
    trace: the file of recorded lengths, where there is one; values: equally likely lengths of it.
    """

    points: Mapping[str, float]
    declared: tuple[str, ...] = ()
    trace: str | None = None
    values: tuple[float, ...] = ()

    @property
    def mean(self) -> float:
        return self.points["mean"]

    @property
    def maximum(self) -> float:
        return self.points["max"]

    @property
    def fixed(self) -> bool:
        return self.points["mean"] == self.points["max"]

    def at(self, statistic: str) -> float:
        return self.points[statistic]


LoadKind = Literal["concurrency", "offline", "rate", "trace", "sessions", "period"]


@dataclass(frozen=True, slots=True)
class Load:
    """Over all replicas. Only the figures of its kind are set. recording: what the trace holds, once it is read.

    requests: a finite run of so many. peak: objectives hold at so many times the rate. ramp_s: until the rate has risen
    to its peak.
    """

    kind: LoadKind
    concurrency: float | None = None
    rate_per_s: float | None = None
    process: Literal["poisson", "constant", "gamma"] = "poisson"
    cv: float | None = None
    trace: str | None = None
    recording: Trace | None = None
    scale: float = 1.0
    sessions: int | None = None
    period_s: float | None = None
    actions: int = 1
    requests: int | None = None
    peak: float = 1.0
    ramp_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Session:
    turns: int
    turn_delay_s: float = 0.0
    context_growth_tokens: float = 0.0


@dataclass(frozen=True, slots=True)
class Prefix:
    """Shared prefix: so many tokens of every prompt, or the share of prompt tokens found in the cache."""

    shared_tokens: float | None = None
    hit_rate: float | None = None


@dataclass(frozen=True, slots=True)
class RequestClass:
    """`share` is of requests. context_tokens: cached tokens a sequence, in place of prompt and output."""

    name: str
    share: float = 1.0
    prompt: Length | None = None
    output: Length | None = None
    context_tokens: float | None = None
    prefix: Prefix | None = None
    session: Session | None = None
    image_count: int = 0
    image_tokens: int = 0
    adapters: int = 0
    load: Load | None = None
    objectives: tuple[Objective, ...] = ()


@dataclass(frozen=True, slots=True)
class Growth:
    """`rate_per_month` is a share of the load; `since` an ISO date."""

    rate_per_month: float
    since: str


@dataclass(frozen=True, slots=True)
class Queue:
    """Requests that one engine lets wait, and how long, before it turns them away. None: no limit."""

    requests: int | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    load: Load
    classes: tuple[RequestClass, ...]
    fixed_s: Mapping[str, float] = field(default_factory=dict)
    growth: Growth | None = None
    queue: Queue | None = None


@dataclass(frozen=True, slots=True)
class Objective:
    """A limit on one figure.

    metric: the key in the spec. statistic: of a latency, else None. limit: SI (seconds, bytes, shares,
    USD; `cost` in USD an hour, or USD of a finite run). bound: "max" says that more is worse.
    """

    metric: str
    statistic: str | None
    bound: Literal["max", "min"]
    limit: float
    request_class: str | None = None
    text: str = ""
    path: str = ""
    fallback: str | None = None
    period: str | None = None

    @property
    def name(self) -> str:
        return f"{self.metric}.{self.statistic}" if self.statistic else self.metric


@dataclass(frozen=True, slots=True)
class Objectives:
    limits: tuple[Objective, ...] = ()
    replicas_down: int = 0
