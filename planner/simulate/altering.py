"""Another load laid over a spec: recorded traffic over the document, a rate over the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner import source
from planner.domain.plan import Plan
from planner.domain.workload import Load, Workload
from planner.evaluation.capacity import at_rate
from planner.findings import Finding, Location
from planner.source.document import Document

LOAD = "/workload/load"
OPTION = "--trace"


def with_trace(document: Document, reference: str) -> tuple[Document, tuple[Finding, ...]]:
    """`document` under recorded arrivals; its classes take their lengths from the recording."""
    return source.set_values(document, (*_cleared(document.data), f"{LOAD}={{trace: {json.dumps(reference)}}}"))


def _cleared(data: Mapping[str, Any]) -> list[str]:
    """Assignments that take lengths and loads off the classes."""
    workload = data.get("workload")
    classes = workload.get("classes") if isinstance(workload, Mapping) else None
    if not isinstance(classes, list):
        return []
    own = ("load", "prompt_tokens", "output_tokens", "context_tokens")
    return [
        f"/workload/classes/{_named(item, index)}/{key}=null"
        for index, item in enumerate(classes)
        if isinstance(item, Mapping)
        for key in own
        if key in item
    ]


def _named(item: Mapping[str, Any], index: int) -> str:
    name = item.get("name")
    return name.replace("~", "~0").replace("/", "~1") if isinstance(name, str) and name else str(index)


def renamed(finding: Finding) -> Finding:
    """A finding about the trace's reference is one about the option that gave it."""
    where = finding.location
    if where is None or where.file != f"--set {LOAD}":
        return finding
    return replace(finding, location=Location(OPTION))


def with_rate(plan: Plan, rate_per_s: float) -> Plan:
    """The plan and what its levers make of it, under arrivals at a rate."""
    variants = {pointers: _under(variant, rate_per_s) for pointers, variant in plan.variants.items()}
    return replace(_under(plan, rate_per_s), variants=variants)


def _under(plan: Plan, rate_per_s: float) -> Plan:
    load = plan.workload.load
    if load.kind == "rate":
        return at_rate(plan, rate_per_s)
    if load.kind == "trace" and load.recording is not None:
        return replace(plan, workload=replace(plan.workload, load=_denser(load, rate_per_s)))
    classes = tuple(replace(item, load=None) for item in plan.workload.classes)
    opened: Workload = replace(plan.workload, load=Load("rate", rate_per_s=rate_per_s, peak=load.peak), classes=classes)
    return replace(plan, workload=opened)


def _denser(load: Load, rate_per_s: float) -> Load:
    """The same arrivals at another mean rate."""
    recording = load.recording
    assert recording is not None
    gaps = len(recording.arrival_s) - 1
    if not gaps or not recording.duration_s:
        return load
    return replace(load, scale=rate_per_s * recording.duration_s / gaps)
