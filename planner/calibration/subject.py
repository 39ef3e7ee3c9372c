"""The subject of a calibration: what ships, narrowed by what the measurements state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from planner.calibration.points import SIZES, Point
from planner.domain.calibration import Size, Subject
from planner.domain.measurement import Measurement
from planner.domain.plan import Plan
from planner.evaluation.calibrated import subject_of
from planner.evaluation.configure import shipped


def subject(plan: Plan, points: Sequence[Point], measurements: Sequence[Measurement]) -> Subject:
    """The shipped plan's, with every parallel size that was measured, and the longest version that was stated."""
    own = subject_of(shipped(plan))
    plans = [point.plan for point in points if point.plan is not None]
    sizes: dict[str, Any] = {
        name: _sizes((getattr(found.engine, name) for found in plans), own, name) for name in SIZES
    }
    versions = [own.version, *(found.subject.version for found in measurements if not _other(own, found.subject))]
    revisions = [own.revision, *(found.subject.revision for found in measurements if not _other(own, found.subject))]
    return replace(own, **sizes, version=max(versions, key=len), revision=max(revisions, key=len))


def _sizes(found: Iterable[int], own: Subject, name: str) -> Size:
    sizes = tuple(sorted(set(found)))
    if not sizes:
        planned: Size = getattr(own, name)
        return planned
    return sizes if len(sizes) > 1 else sizes[0]


def _other(own: Subject, stated: Subject) -> bool:
    """Whether a measurement is of something else than a parallel size of what ships."""
    return any(not what.endswith("size") for what, _, _ in stated.differences(own))
