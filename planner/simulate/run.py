"""A spec, judged by one run of the event simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner import source
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation.simulation import Run
from planner.findings import Finding
from planner.pipeline import Judgement, Stages, judge_loaded
from planner.simulate.altering import renamed, with_trace
from planner.simulate.asked import Asked, NotSimulatedError
from planner.simulate.running import Progress, Ran, ran, under
from planner.traffic import series as over_time
from planner.traffic.series import Interval

INTERVALS = 24
"""Of a series whose interval is not asked for: as many as one reads on a screen."""
WITHOUT = ("rate-that-holds",)
"""A search over many runs, which says nothing of this one."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A judgement, and the run that it rests on; None where nothing was run: the spec is invalid or does not fit."""

    judgement: Judgement
    ran: Ran | None = None
    series: Sequence[Interval] = ()


def simulated(
    path: Path, asked: Asked, *, display: str, today: str, sets: Sequence[str] = (), progress: Progress | None = None
) -> Simulated:
    """The spec in a file under what was asked. Raises NotSimulatedError for a load that cannot be run."""
    document, findings = source.load(path, display=display)
    problems: tuple[Finding, ...] = ()
    if document is not None:
        document, problems = source.set_values(document, sets)
    if document is not None and asked.trace is not None:
        document, faults = with_trace(document, asked.trace)
        problems = (*problems, *faults)
    running = _Running(asked, progress)
    stages = Stages(running.prepare, running.evaluate, WITHOUT)
    judgement = judge_loaded(display, document, (*findings, *problems), today=today, stages=stages)
    judgement = replace(judgement, findings=tuple(renamed(item) for item in judgement.findings))
    found = running.ran
    if found is None or found.run is None:
        return Simulated(judgement)
    return Simulated(judgement, found, _series(found.run, asked))


def _series(run: Run, asked: Asked) -> list[Interval]:
    whole = over_time.duration_s(run.engines)
    width = asked.interval_s or over_time.width_for(whole, INTERVALS)
    try:
        return over_time.series(run.engines, width)
    except ValueError as error:
        raise NotSimulatedError(str(error)) from error


class _Running:
    """The stages of the judgement that a run takes the place of, and the run that they made."""

    def __init__(self, asked: Asked, progress: Progress | None) -> None:
        self.asked, self.progress = asked, progress
        self.ran: Ran | None = None

    def prepare(self, plan: Plan) -> Plan:
        return under(plan, self.asked)

    def evaluate(self, plan: Plan) -> PlanResult:
        self.ran = ran(plan, self.asked, self.progress)
        return self.ran.result
