"""Many runs of one spec: every rate with every seed, each on its own, so that they may be made anywhere in any order.

What a run gives depends on the plan and on what was asked alone. Its key is a digest of both, so that a result that
was made before, here or elsewhere, is known again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner import __version__, evaluation, source
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding
from planner.output.json import SCHEMA_VERSION, finding_of, plain
from planner.pipeline import Judgement, Stages, judge_loaded
from planner.simulate.altering import renamed, with_trace
from planner.simulate.asked import Asked, NotSimulatedError
from planner.simulate.figures import run_of, spec_of
from planner.simulate.running import ran, under

MOST_RUNS = 100_000
WITHOUT = ("rate-that-holds", "load-exceeds-capacity", "objective-missed", "objective-at-risk")
"""What is said of the declared load; a sweep asks for others."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A spec that can be run, and what is asked of it. plan: None where it cannot; the judgement says why."""

    judgement: Judgement
    plan: Plan | None
    asked: tuple[Asked, ...]
    digest: str = ""

    def key(self, asked: Asked) -> str:
        """Of one run."""
        parts = [self.digest, asked.rate_per_s, asked.seed, asked.requests, asked.duration_s]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def asked_for(base: Asked, rates: Sequence[float | None], seeds: Sequence[int]) -> tuple[Asked, ...]:
    """Every rate with every seed, in order, each once."""
    return tuple(
        replace(base, rate_per_s=rate, seed=seed) for rate in dict.fromkeys(rates) for seed in dict.fromkeys(seeds)
    )


def prepared(
    path: Path, base: Asked, rates: Sequence[float | None], seeds: Sequence[int], *, display: str, today: str,
    sets: Sequence[str] = (),
) -> Sweep:  # fmt: skip
    """The spec in a file, bound once. Raises NotSimulatedError for requests without lengths."""
    document, findings = source.load(path, display=display)
    problems: tuple[Finding, ...] = ()
    if document is not None:
        document, problems = source.set_values(document, sets)
    if document is not None and base.trace is not None:
        document, faults = with_trace(document, base.trace)
        problems = (*problems, *faults)
    bound: list[Plan] = []

    def prepare(plan: Plan) -> Plan:
        bound.append(plan)
        return under(plan, base)

    stages = Stages(prepare, _closed_forms, WITHOUT)
    judgement = judge_loaded(display, document, (*findings, *problems), today=today, stages=stages)
    judgement = replace(judgement, findings=tuple(renamed(item) for item in judgement.findings))
    asked = asked_for(base, rates, seeds)
    if judgement.result is None or not judgement.result.shipped.memory.fits:
        return Sweep(judgement, None, asked)
    return Sweep(judgement, bound[-1], asked, _digest(judgement, bound[-1]))


def _closed_forms(plan: Plan) -> PlanResult:
    return evaluation.run_simulated(plan, lambda running, ledger, served: served)


def _digest(judgement: Judgement, plan: Plan) -> str:
    """Of all that a run depends on beside what is asked: the spec, what it names, and this program."""
    document = judgement.document
    found = hashlib.sha256()
    parts = [__version__, document.sha256 if document else "", sorted(plan.catalogue.items()), repr(plan.calibration)]
    found.update(json.dumps(parts).encode())
    recording = plan.workload.load.recording
    if recording is not None:
        for column in (recording.arrival_s, recording.input_tokens, recording.output_tokens, recording.prefixes):
            found.update(repr(list(column)).encode())
    return found.hexdigest()


def row(plan: Plan, asked: Asked) -> Row:
    """One run. reason: why there is none."""
    body: Row = {"rate_per_s": asked.rate_per_s, "seed": asked.seed, "reason": None, "run": None, "objectives": []}
    try:
        found = ran(under(plan, asked), asked)
    except NotSimulatedError as error:
        return {**body, "reason": str(error)}
    return {**body, "run": run_of(found), "objectives": plain(found.result.shipped.objectives)}


def as_json(sweep: Sweep, rows: Sequence[Row]) -> str:
    """The whole contract (schema/v1/sweep.schema.json), a row a line."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "spec": spec_of(sweep.judgement),
        "findings": [finding_of(item) for item in sweep.judgement.findings],
    }
    text = json.dumps(head, ensure_ascii=True, allow_nan=False)
    lines = ",\n".join(json.dumps(item, ensure_ascii=True, allow_nan=False) for item in rows)
    return f'{text[:-1]}, "rows": [\n{lines}\n]}}\n' if lines else f'{text[:-1]}, "rows": []}}\n'
