"""A plan through one run: what the judgement and a sweep have in common."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from planner import evaluation
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation import simulation
from planner.evaluation.latency import Served
from planner.evaluation.simulation import Run
from planner.simulate.altering import with_rate
from planner.simulate.asked import Asked, NotSimulatedError

Progress = Callable[[int, int], None]
"""Called now and then with the requests done and the requests in all (0 where that is not known)."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A run, and the figures that it gives the plan.

    run: None where the memory does not fit. overloaded: the queue grows without bound, so there is no latency. kept,
    looked_at: requests that kept every limit, of how many.
    """

    asked: Asked
    result: PlanResult
    run: Run | None
    overloaded: bool = False
    kept: int = 0
    looked_at: int = 0


def under(plan: Plan, asked: Asked) -> Plan:
    """The plan under the rate that was asked for. Raises NotSimulatedError where its requests have no lengths."""
    unknown = [item.name for item in plan.workload.classes if item.prompt is None or item.output is None]
    if unknown:
        raise NotSimulatedError(f"the class {unknown[0]!r} declares no prompt_tokens and output_tokens")
    if not plan.workload.classes:
        raise NotSimulatedError("the workload has no class")
    return plan if asked.rate_per_s is None else with_rate(plan, asked.rate_per_s)


def ran(plan: Plan, asked: Asked, progress: Progress | None = None) -> Ran:
    """One run of a plan as it was bound. Raises NotSimulatedError where it would be too long, or holds no request."""
    found: list[tuple[Run, bool]] = []

    def simulator(running: Plan, ledger: MemoryLedger, served: Served) -> Served:
        if not ledger.memory.fits:
            return served
        run = _simulated(running, ledger, served, asked, progress)
        grows = served.operating.overloaded and running.workload.queue is None
        after = served if grows else simulation.applied(running, served, run)
        found.append((run, grows or after.operating.overloaded))
        return after

    result = evaluation.run_simulated(plan, simulator)
    if not found:
        return Ran(asked, result, None)
    run, overloaded = found[-1]
    return Ran(asked, result, run, overloaded, *simulation.kept_of(result.detail.plan, run))


def _simulated(plan: Plan, ledger: MemoryLedger, served: Served, asked: Asked, progress: Progress | None) -> Run:
    requests = asked.requests
    if requests is None and asked.duration_s is not None:
        requests = simulation.MOST_ASKED
    run = simulation.simulate(
        plan, ledger, served, seed=asked.seed, progress=_counted(plan, asked, requests, progress), requests=requests,
        until_s=math.inf if asked.duration_s is None else asked.duration_s,
    )  # fmt: skip
    if run is None:
        raise NotSimulatedError("the run would be too long; say how long with --requests or --duration")
    if not run.outcome.requests and not run.outcome.rejected:
        raise NotSimulatedError("no request arrives in that time")
    return run


def _counted(plan: Plan, asked: Asked, requests: int | None, progress: Progress | None) -> Callable[[int], None] | None:
    """Requests done, against those of the trace or those that were asked for."""
    if progress is None:
        return None
    recording = plan.workload.load.recording
    held = len(recording.arrival_s) if recording is not None else 0
    total = min(requests or held, held) if held else requests or 0
    return lambda done: progress(done, total if asked.duration_s is None else 0)
