"""The `workload` section to loads, classes and lengths in SI units. The document has passed the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner import units
from planner.bind import class_loads
from planner.bind.lengths import length, recorded
from planner.bind.objectives import objectives_of
from planner.domain.trace import Trace
from planner.domain.workload import Growth, Length, Load, Prefix, Queue, RequestClass, Session, Workload

NO_RECORDINGS: Mapping[str, Trace] = {}


def workload(section: Mapping[str, Any], recordings: Mapping[str, Trace] = NO_RECORDINGS) -> Workload:
    """The whole section; `share` left out of every class is equal parts, of some is what the others leave.

    recordings: the traces that it names. A class without lengths takes those of its load's trace.
    """
    items: Sequence[Mapping[str, Any]] = section.get("classes") or ()
    shares = _shares(items)
    declared = section.get("load") or {}
    classes = tuple(
        _class(item, share, index, recordings, declared)
        for index, (item, share) in enumerate(zip(items, shares, strict=True))
    )
    load = _load(declared, recordings) if declared else None
    if any(item.load is not None for item in classes):
        load, classes = class_loads.summed(load, classes)
    load = load or Load("concurrency", concurrency=1.0)
    fixed = {name: units.si(value, "time") for name, value in (section.get("fixed") or {}).items()}
    return Workload(load, classes, fixed, _growth(section.get("growth")), _queue(section.get("queue")))


def _shares(items: Sequence[Mapping[str, Any]]) -> list[float]:
    declared = [units.si(item["share"], "share") if "share" in item else None for item in items]
    missing = sum(share is None for share in declared)
    left = max(0.0, 1.0 - sum(share for share in declared if share is not None))
    return [left / missing if share is None else share for share in declared]


def _class(
    item: Mapping[str, Any], share: float, index: int, recordings: Mapping[str, Trace], load: Mapping[str, Any]
) -> RequestClass:
    images = item.get("images") or {}
    prefix = item.get("prefix") or {}
    return RequestClass(
        name=str(item.get("name", "all")),
        share=share,
        prompt=_length(item, "prompt_tokens", recordings, load),
        output=_length(item, "output_tokens", recordings, load),
        context_tokens=float(item["context_tokens"]) if "context_tokens" in item else None,
        prefix=Prefix(
            float(prefix["shared_tokens"]) if "shared_tokens" in prefix else None,
            units.si(prefix["hit_rate"], "share") if "hit_rate" in prefix else None,
        )
        if prefix
        else None,
        session=_session(item.get("session")),
        image_count=int(images.get("count", 0)),
        image_tokens=int(images.get("tokens", 0)),
        adapters=int(item.get("adapters", 0)),
        load=_load(item["load"], recordings) if item.get("load") else None,
        objectives=objectives_of(
            item.get("objectives") or {}, item.get("name"), f"/workload/classes/{item.get('name', index)}"
        ).limits,
    )


def _length(
    item: Mapping[str, Any], key: str, recordings: Mapping[str, Trace], load: Mapping[str, Any]
) -> Length | None:
    """As declared, as recorded in the length's own trace, or as in the trace that is the load."""
    declared = item.get(key)
    own = declared.get("trace") if isinstance(declared, Mapping) else None
    if declared is not None and own is None:
        return length(declared)
    if declared is None and "context_tokens" in item:
        return None
    reference = own or (item.get("load") or load).get("trace")
    found = recordings.get(reference) if isinstance(reference, str) else None
    if found is None:
        return None
    return recorded(found.input_tokens if key == "prompt_tokens" else found.output_tokens, found.source)


def _queue(section: Mapping[str, Any] | None) -> Queue | None:
    if not section:
        return None
    return Queue(
        int(section["requests"]) if "requests" in section else None,
        units.si(section["timeout"], "time") if "timeout" in section else None,
    )


def _session(section: Mapping[str, Any] | None) -> Session | None:
    if not section:
        return None
    delay = units.si(section["turn_delay"], "time") if "turn_delay" in section else 0.0
    return Session(int(section.get("turns", 1)), delay, float(section.get("context_growth", 0)))


def _load(section: Mapping[str, Any], recordings: Mapping[str, Trace] = NO_RECORDINGS) -> Load:
    requests = int(section["requests"]) if "requests" in section else None
    peak = float(section.get("peak", 1.0))
    if "concurrency" in section:
        return Load("concurrency", concurrency=float(section["concurrency"]), requests=requests, peak=peak)
    if section.get("offline"):
        return Load("offline", requests=requests, peak=peak)
    if "rate" in section:
        return Load(
            "rate",
            rate_per_s=units.si(section["rate"], "arrival-rate"),
            process=section.get("process", "poisson"),
            cv=float(section["cv"]) if "cv" in section else None,
            requests=requests,
            peak=peak,
            ramp_s=units.si(section["ramp"], "time") if "ramp" in section else 0.0,
        )
    if "trace" in section:
        return Load(
            "trace",
            trace=str(section["trace"]),
            recording=recordings.get(str(section["trace"])),
            scale=float(section.get("scale", 1.0)),
            requests=requests,
            peak=peak,
        )
    if "sessions" in section:
        return Load("sessions", sessions=int(section["sessions"]), requests=requests, peak=peak)
    period = units.si(section["period"], "time")
    return Load("period", period_s=period, actions=int(section.get("actions", 1)), requests=requests, peak=peak)


def _growth(section: Mapping[str, Any] | None) -> Growth | None:
    if not section:
        return None
    return Growth(units.si(section["rate"], "growth"), str(section.get("from", "")))
