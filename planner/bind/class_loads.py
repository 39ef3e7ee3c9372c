"""Classes with loads of their own: what they come to together, and the share of requests that each has.

Loads of one kind are added up, and shares follow from them. Of several kinds arrivals are what closed forms can be
told of: the others take what arrivals leave, and are seen where requests are simulated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from planner.domain.workload import Load, RequestClass


def summed(common: Load | None, classes: Sequence[RequestClass]) -> tuple[Load, tuple[RequestClass, ...]]:
    """The load of all classes together, and the classes with their shares of it, each with its own load.

    common: of the classes that have none of their own, by their shares.
    """
    loads = [item.load or _part(common, item, classes) for item in classes]
    kinds = {load.kind for load in loads}
    chosen = kinds if len(kinds) == 1 else {"rate"} & kinds or {"concurrency", "sessions"} & kinds or {loads[0].kind}
    counted = [load if load.kind in chosen else None for load in loads]
    sizes = [_size(load) if load is not None else 0.0 for load in counted]
    total = math.fsum(sizes) or 1.0
    found = tuple(
        replace(item, share=size / total, load=load) for item, size, load in zip(classes, sizes, loads, strict=True)
    )
    return _together([load for load in counted if load is not None], math.fsum(sizes)), found


def _part(common: Load | None, item: RequestClass, classes: Sequence[RequestClass]) -> Load:
    """What one class has of the load that those without their own share."""
    if common is None:
        return Load("concurrency", concurrency=1.0)
    all_shares = math.fsum(other.share for other in classes if other.load is None) or 1.0
    part = item.share / all_shares
    return replace(
        common,
        rate_per_s=None if common.rate_per_s is None else common.rate_per_s * part,
        concurrency=None if common.concurrency is None else common.concurrency * part,
        sessions=None if common.sessions is None else max(round(common.sessions * part), 1),
    )


def _size(load: Load) -> float:
    """What shares are in proportion to; loads that name no number count alike."""
    return load.rate_per_s or load.concurrency or float(load.sessions or 0) or 1.0


def _together(loads: Sequence[Load], size: float) -> Load:
    first = loads[0]
    alike = all((load.process, load.cv) == (first.process, first.cv) for load in loads)
    finite = [load.requests for load in loads if load.requests is not None]
    whole = replace(
        first,
        process=first.process if alike else "poisson",
        cv=first.cv if alike else None,
        requests=sum(finite) if len(finite) == len(loads) else None,
        ramp_s=max(load.ramp_s for load in loads),
    )
    if first.kind == "rate":
        peak = math.fsum((load.rate_per_s or 0.0) * load.peak for load in loads) / (size or 1.0)
        return replace(whole, rate_per_s=size, peak=max(peak, 1.0))
    if first.kind in ("concurrency", "sessions") and len({load.kind for load in loads}) > 1:
        return Load("concurrency", concurrency=size, requests=whole.requests)
    if first.kind == "concurrency":
        return replace(whole, concurrency=size)
    return replace(whole, sessions=round(size)) if first.kind == "sessions" else whole
