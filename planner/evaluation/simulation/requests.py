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
from planner.traffic.population import Kind, Source, closed_loop, open_loop, recorded, side_by_side

SLICES = 512
SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn of a load. share: of it, that the simulated engines get. scale: so many times as dense.

    requests: sessions, of classes that have them. rise: the load is at its mean rate until it rises to the peak; at the
    peak all the time where it is None. session_s: of one session, about, over which the first of them start.
    """

    requests: int
    seed: int
    share: float = 1.0
    scale: float = 1.0
    rise: Rise | None = None
    session_s: float = 0.0


def source_of(plan: Plan, drawn: Drawn) -> Source:
    """Requests of all classes; those with loads of their own, of several kinds, side by side."""
    workload = plan.workload
    kinds = [_kind(plan, item) for item in workload.classes]
    own = [item.load for item in workload.classes]
    if all(load is not None for load in own) and len({load.kind for load in own if load}) > 1:
        each = replace(drawn, requests=max(drawn.requests // len(kinds), 1))
        loads = [(index, load) for index, load in enumerate(own) if load is not None]
        return side_by_side([_one_load(plan, load, kinds, [index], each) for index, load in loads])
    return _one_load(plan, workload.load, kinds, range(len(kinds)), drawn)


def _one_load(plan: Plan, load: Load, kinds: Sequence[Kind], owners: Sequence[int], drawn: Drawn) -> Source:
    """One load, sent by the classes `owners`."""
    density = drawn.share * drawn.scale
    if load.kind == "trace" and load.recording is not None:
        caching = plan.techniques.prefix_caching
        return recorded(load.recording, load.scale * load.peak * drawn.scale, drawn.requests, caching, drawn.share)
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
        rates = [(kind.share / period, "constant", 0.0) for kind in kinds]
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
