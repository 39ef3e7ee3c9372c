"""What was served: percentiles, rates, queue and cache, over the part of a run that is looked at.

    waiting   first scheduled - arrival                   over requests
    TTFT      first token - arrival                       over requests
    ITL       gap between two tokens of one request       over all gaps
    TPOT      (last - first token) / (tokens - 1)         over requests of two tokens or more
    goodput   requests a second that kept every limit; those turned away count as missed

Source of the definitions: the spec language; goodput as in DistServe (Zhong et al., OSDI 2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from planner.traffic.engine import EngineSimulation
from planner.traffic.records import gap_quantiles, mean, quantiles
from planner.traffic.request import Request

LEVELS: tuple[tuple[str, float], ...] = (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Figures of the requests that arrived between begin_s and the last arrival.

    Latencies: {mean, p50, p90, p95, p99, max}, seconds; empty where no request has one. rates: a second.
    queue: mean requests that wait. batch: mean sequences that run. hit_rate: prompt tokens found in the cache.
    busy: share of time with a step running. prefill_busy: with prompts. first_tokens: 200 quantiles of TTFT.
    """

    requests: int
    rejected: int
    preemptions: int
    duration_s: float
    first_token: Mapping[str, float]
    gap: Mapping[str, float]
    per_token: Mapping[str, float]
    latency: Mapping[str, float]
    session: Mapping[str, float]
    requests_per_s: float
    output_tokens_per_s: float
    total_tokens_per_s: float
    hit_rate: float
    busy: float
    prefill_busy: float
    batch: float
    queue: float
    rejected_why: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, float] = field(default_factory=dict)
    first_tokens: Sequence[float] = ()

    @property
    def rejected_fraction(self) -> float:
        return self.rejected / (self.requests + self.rejected) if self.requests + self.rejected else 0.0


def outcome(
    engines: Sequence[EngineSimulation], begin_s: float = 0.0, owner: int | None = None, end_s: float = math.inf
) -> Outcome:
    """Of all engines together; of one class where `owner` is given (its own gaps where the engines tell them apart).

    begin_s, end_s: arrivals outside are the warm-up and the emptying, and are left out of latencies.
    """
    everyone = [item for engine in engines for item in engine.done if owner is None or item.owner == owner]
    looked = [item for item in everyone if begin_s <= item.arrival_s <= end_s]
    served = [item for item in looked if not item.rejected]
    written = [engine.gaps if owner is None or not engine.gaps_of else engine.gaps_of[owner] for engine in engines]
    stretches = [row for gaps in written for row in gaps.stretches(begin_s, end_s)]
    finished = max((item.finished_s for item in served), default=begin_s)
    span = max(min(finished, max((e.now for e in engines), default=0.0)) - begin_s, 0.0)
    total = max(sum(engine.now for engine in engines), 1e-12)
    tokens = sum(item.output for item in served)
    prompts = sum(item.prompt for item in served)
    first = [item.time_to_first_token_s for item in served]
    return Outcome(
        requests=len(served),
        rejected=len(looked) - len(served),
        preemptions=sum(item.preemptions for item in served),
        duration_s=span,
        first_token=distribution(first),
        gap=gap_distribution(stretches) if any(item.output > 1 for item in served) else {},
        per_token=distribution([item.time_per_output_token_s for item in served if item.output > 1]),
        latency=distribution([item.latency_s for item in served]),
        session=distribution(_sessions(everyone, begin_s)),
        requests_per_s=len(served) / span if span else 0.0,
        output_tokens_per_s=tokens / span if span else 0.0,
        total_tokens_per_s=(tokens + prompts) / span if span else 0.0,
        hit_rate=sum(item.found for item in served) / prompts if prompts else 0.0,
        busy=sum(engine.busy_s for engine in engines) / total,
        prefill_busy=sum(engine.prefill_busy_s for engine in engines) / total,
        batch=_running(served, span),
        queue=math.fsum(max(item.scheduled_s - item.arrival_s, 0.0) for item in served) / span if span else 0.0,
        rejected_why=_reasons(looked),
        waiting=distribution([item.scheduled_s - item.arrival_s for item in served]),
        first_tokens=quantiles(first, [index / 200 for index in range(1, 201)]) if first else (),
    )


def distribution(values: Sequence[float]) -> dict[str, float]:
    """{mean, p50, p90, p95, p99, max}; nothing of nothing."""
    if not values:
        return {}
    found = dict(zip((name for name, _ in LEVELS), quantiles(values, [level for _, level in LEVELS]), strict=True))
    return {"mean": mean(values), **found, "max": max(values)}


def gap_distribution(stretches: Sequence[tuple[float, float, float, float]]) -> dict[str, float]:
    """The same over weighted stretches of gaps."""
    total = math.fsum(count * weight for _, _, count, weight in stretches)
    if not total:
        return {}
    seconds = math.fsum(
        weight * (count * first + rise * count * (count - 1) / 2.0) for first, rise, count, weight in stretches
    )
    levels = gap_quantiles(stretches, [level for _, level in LEVELS])
    found = dict(zip((name for name, _ in LEVELS), levels, strict=True))
    longest = max(first + rise * (count - 1) for first, rise, count, _ in stretches)
    return {"mean": seconds / total, **found, "max": longest}


def kept(
    engines: Sequence[EngineSimulation],
    limits: Sequence[Callable[[Request], bool]],
    begin_s: float = 0.0,
    end_s: float = math.inf,
    owner: int | None = None,
) -> tuple[int, int]:
    """(requests that keep every limit, all that arrived in the time looked at); those turned away keep none."""
    looked = [
        item
        for engine in engines
        for item in engine.done
        if begin_s <= item.arrival_s <= end_s and (owner is None or item.owner == owner)
    ]
    good = sum(1 for item in looked if not item.rejected and all(limit(item) for limit in limits))
    return good, len(looked)


def _sessions(everyone: Sequence[Request], begin_s: float) -> list[float]:
    """From the first arrival of a session to its last token, of sessions that began in time and took several turns."""
    begun: dict[tuple[int, int], float] = {}
    ended: dict[tuple[int, int], float] = {}
    several: set[tuple[int, int]] = set()
    for item in everyone:
        if item.rejected or item.session < 0:
            continue
        key = (item.owner, item.session)
        begun[key] = min(begun.get(key, math.inf), item.arrival_s)
        ended[key] = max(ended.get(key, 0.0), item.finished_s)
        if item.turn:
            several.add(key)
    return [ended[key] - begun[key] for key in sorted(several) if begun[key] >= begin_s]


def _running(served: Sequence[Request], span: float) -> float:
    """Mean requests between schedule and last token (Little)."""
    return math.fsum(item.finished_s - item.scheduled_s for item in served) / span if span else 0.0


def _reasons(looked: Sequence[Request]) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in looked:
        if item.rejected:
            found[item.rejected] = found.get(item.rejected, 0) + 1
    return dict(sorted(found.items()))
