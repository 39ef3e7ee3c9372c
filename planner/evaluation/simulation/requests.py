"""The requests of a plan's load, as the event simulation draws them.

Lengths are drawn from the declared distributions, each of 512 equal slices as often as any other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from planner.domain.plan import Plan
from planner.domain.workload import Length, Load, RequestClass
from planner.evaluation.mix import cached_tokens, images, prompt_tokens, quantile
from planner.traffic.arrivals import Rise
from planner.traffic.population import Kind, Source, closed_loop, open_loop, recorded, side_by_side, until

SLICES = 512
SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn of a load. share: of it, that the simulated engines get. scale: so many times as dense.

    requests: sessions, of classes that have them. rise: the load is at its mean rate until it rises to the peak; at the
    peak all the time where it is None. session_s: of one session, about, over which the first of them start. until_s:
    loads of several kinds go on side by side until then.
    """

    requests: int
    seed: int
    share: float = 1.0
    scale: float = 1.0
    rise: Rise | None = None
    session_s: float = 0.0
    until_s: float = math.inf


def own_loads(plan: Plan) -> list[Load]:
    """Of the classes, where they have loads of their own; a class without one then has its part of the workload's."""
    return [item.load for item in plan.workload.classes if item.load is not None]


def side_by_side_of(plan: Plan) -> bool:
    """Whether loads are sent at once that cannot be added up to arrivals at one rate."""
    return len(own_loads(plan)) > 1 and any(load.kind != "rate" for load in own_loads(plan))


def source_of(plan: Plan, drawn: Drawn) -> Source:
    """Requests of all classes; those with loads of their own, of several kinds, side by side."""
    kinds = [_kind(plan, item) for item in plan.workload.classes]
    if not side_by_side_of(plan):
        return _one_load(plan, plan.workload.load, kinds, range(len(kinds)), drawn)
    sources = []
    for owner, load in enumerate(own_loads(plan)):
        asked = drawn.requests if load.requests is None else math.ceil(load.requests * drawn.share)
        source = _one_load(plan, load, kinds, [owner], replace(drawn, requests=asked))
        sources.append(([owner], source if load.requests is not None else until(source, drawn.until_s)))
    return side_by_side(sources)


def _one_load(plan: Plan, load: Load, kinds: Sequence[Kind], owners: Sequence[int], drawn: Drawn) -> Source:
    """One load, sent by the classes `owners`."""
    density = drawn.share * drawn.scale
    if load.kind == "trace" and load.recording is not None:
        caching = plan.techniques.prefix_caching
        scale = load.scale * load.peak * drawn.scale
        return recorded(load.recording, scale, drawn.requests, caching, drawn.share, owners[0])
    closed = {
        "sessions": float(load.sessions or 1) * density,
        "offline": float(drawn.requests),
        "concurrency": (load.concurrency or 1.0) * density,
    }
    if load.kind in closed:
        spread = [replace(kind, outputs=_spread(kind.outputs)) for kind in kinds]
        over = drawn.session_s if load.requests is None else 0.0  # a finite run begins with a burst
        return closed_loop(spread, max(round(closed[load.kind]), 1), drawn.requests, drawn.seed, owners, over)
    if load.kind == "period":
        period = (load.period_s or 1.0) * load.actions
        all_shares = math.fsum(kinds[owner].share for owner in owners)
        rates = [(kind.share / all_shares / period if all_shares else 1.0 / period, "constant", 0.0) for kind in kinds]
    else:
        rates = _rates(plan, density, peak=drawn.rise is None)
    chosen = [rate if index in owners else (0.0, "poisson", 1.0) for index, rate in enumerate(rates)]
    return open_loop(kinds, chosen, drawn.requests, drawn.seed, drawn.rise)


def _rates(plan: Plan, density: float, peak: bool) -> list[tuple[float, str, float]]:
    """(rate, process, variation) of each class: its own load's, or its share of all."""
    load, classes = plan.workload.load, plan.workload.classes
    total = math.fsum(item.share for item in classes) or 1.0
    found: list[tuple[float, str, float]] = []
    for item in classes:
        own = item.load if item.load is not None and item.load.kind == "rate" else None
        chosen = own or load
        rate = (chosen.rate_per_s or 0.0) * (chosen.peak if peak else 1.0)
        found.append((rate * density * (1.0 if own else item.share / total), chosen.process, chosen.cv or 1.0))
    return found


def _kind(plan: Plan, item: RequestClass) -> Kind:
    caching = plan.techniques.prefix_caching
    prefix, session = item.prefix, item.session
    hit = cached_tokens(plan, item) / max(prompt_tokens(item), 1.0) if prefix and prefix.hit_rate is not None else 0.0
    prompt, output = item.prompt, item.output
    return Kind(
        prompts=[value + images(item) for value in _lengths(prompt)] if prompt else [1.0],
        outputs=_lengths(output) if output else [1.0],
        reserved=math.ceil(output.maximum) if output else 1,
        share=item.share,
        hit_rate=hit,
        shared_tokens=int(prefix.shared_tokens or 0) if prefix else 0,
        turns=min(session.turns, 10_000) if session else 1,
        delay_s=session.turn_delay_s if session else 0.0,
        growth=int(session.context_growth_tokens) if session else 0,
        caching=caching,
    )


def _spread(outputs: Sequence[float]) -> Sequence[float]:
    """One declared length stands for answers within a tenth of it: in a closed loop, equal ones would march in step."""
    if len(outputs) > 1:
        return outputs
    return [outputs[0] * (1.0 + SPREAD * (2.0 * (index + 0.5) / SLICES - 1.0)) for index in range(SLICES)]


def _lengths(length: Length) -> tuple[float, ...]:
    if length.values:
        return length.values
    return (length.mean,) if length.fixed else _sliced(tuple(sorted(length.points.items())))


@lru_cache(maxsize=64)
def _sliced(points: tuple[tuple[str, float], ...]) -> tuple[float, ...]:
    """Middles of equal slices of the distribution, scaled to its mean, its maximum kept."""
    length = Length(dict(points))
    values = [quantile(length, (index + 0.5) / SLICES) for index in range(SLICES)]
    scale = length.mean / (math.fsum(values) / SLICES)
    return tuple(min(value * scale, length.maximum) for value in values)
