"""A spec, judged by one run of the event simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner import evaluation, source
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation import simulation
from planner.evaluation.latency import Served
from planner.evaluation.simulation import Run
from planner.findings import Finding
from planner.pipeline import Judgement, Stages, judge_loaded
from planner.simulate.altering import renamed, with_rate, with_trace
from planner.simulate.asked import Asked, NotSimulatedError
from planner.traffic import series as over_time
from planner.traffic.series import Interval

INTERVALS = 24
"""Of a series whose interval is not asked for: as many as one reads on a screen."""
WITHOUT = ("rate-that-holds",)
"""A search over many runs, which says nothing of this one."""
Progress = Callable[[int, int], None]
"""Called now and then with the requests done and the requests in all (0 where that is not known)."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A judgement, and the run that it rests on.

    run: None where nothing was run, because the spec is invalid or its memory does not fit. overloaded: the queue
    grows without bound, so the run has no latency. kept, looked_at: requests that kept every limit, of how many.
    """

    judgement: Judgement
    asked: Asked
    run: Run | None = None
    overloaded: bool = False
    kept: int = 0
    looked_at: int = 0
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
        document, found = with_trace(document, asked.trace)
        problems = (*problems, *found)
    running = _Running(asked, progress)
    stages = Stages(running.prepare, running.evaluate, WITHOUT)
    judgement = judge_loaded(display, document, (*findings, *problems), today=today, stages=stages)
    judgement = replace(judgement, findings=tuple(renamed(item) for item in judgement.findings))
    run = running.run
    if run is None or judgement.result is None:
        return Simulated(judgement, asked)
    kept, looked_at = simulation.kept_of(judgement.result.detail.plan, run)
    return Simulated(judgement, asked, run, running.overloaded, kept, looked_at, _series(run, asked))


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
        self.run: Run | None = None
        self.overloaded = False

    def prepare(self, plan: Plan) -> Plan:
        unknown = [item.name for item in plan.workload.classes if item.prompt is None or item.output is None]
        if unknown or not plan.workload.classes:
            raise NotSimulatedError(
                f"the class {unknown[0]!r} declares no prompt_tokens and output_tokens"
                if unknown
                else "the workload has no class"
            )
        return plan if self.asked.rate_per_s is None else with_rate(plan, self.asked.rate_per_s)

    def evaluate(self, plan: Plan) -> PlanResult:
        return evaluation.run_simulated(plan, self._simulator)

    def _simulator(self, plan: Plan, ledger: MemoryLedger, served: Served) -> Served:
        if not ledger.memory.fits:
            return served
        asked = self.asked
        requests = asked.requests
        if requests is None and asked.duration_s is not None:
            requests = simulation.MOST_ASKED
        run = simulation.simulate(
            plan, ledger, served, seed=asked.seed, progress=self._counted(plan, requests),
            requests=requests, until_s=math.inf if asked.duration_s is None else asked.duration_s,
        )  # fmt: skip
        if run is None:
            raise NotSimulatedError("the run would be too long; say how long with --requests or --duration")
        if not run.outcome.requests and not run.outcome.rejected:
            raise NotSimulatedError("no request arrives in that time")
        self.run = run
        if served.operating.overloaded and plan.workload.queue is None:
            self.overloaded = True
            return served
        applied = simulation.applied(plan, served, run)
        self.overloaded = applied.operating.overloaded
        return applied

    def _counted(self, plan: Plan, requests: int | None) -> Callable[[int], None] | None:
        progress = self.progress
        if progress is None:
            return None
        recording = plan.workload.load.recording
        held = len(recording.arrival_s) if recording is not None else 0
        total = min(requests or held, held) if held else requests or 0
        return lambda done: progress(done, total if self.asked.duration_s is None else 0)
