"""A spec and files of measurements to what a calibration is made from; and its points in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from planner import bind, contract, measurements, source
from planner.calibration import OUTLIER, Outcome
from planner.calibration.wording import run_text, value_text
from planner.domain.measurement import Measurement
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict, verdict_of
from planner.measurements.document import read_document
from planner.project import project_of
from planner.quoting import visible

DOCUMENTS = (".yaml", ".yml")


def planned(spec: Path, name: str, sets: Sequence[str] = ()) -> tuple[Plan | None, tuple[Finding, ...]]:
    """The plan of a spec, whatever its own calibration; or the findings that say why there is none."""
    document, findings = source.load(spec, display=name)
    for assignment in sets if document is not None else ():
        assert document is not None
        document, problems = source.set_value(document, assignment)
        findings = (*findings, *problems)
    if document is None:
        return None, findings
    data = {key: value for key, value in document.data.items() if key != "calibration"}
    document = replace(document, data=data)
    findings = (*findings, *contract.validate(document))
    if document.kind != "Deployment" and not findings:
        message = f"{visible(name)} is a {document.kind}; only a Deployment is calibrated"
        findings = (Finding("unknown-kind", Severity.ERROR, message, verdict=Verdict.INVALID),)
    if verdict_of(findings) is Verdict.INVALID:
        return None, findings
    plan, problems = bind.plan(document, project_of(document.root).catalogue)
    if plan is not None and plan.engine.name == "ideal":
        message = "the engine `ideal` is a floor by definition: nothing of it is measured"
        fault = Finding("calibration-of-ideal", Severity.ERROR, message, path="/engine/name", verdict=Verdict.INVALID)
        return None, (*findings, fault)
    return plan, (*findings, *problems)


def measured(path: Path, name: str) -> tuple[tuple[Measurement, ...], tuple[Finding, ...]]:
    """What one file says: a Measurement document with the files that it names, or the output of a tool."""
    if path.suffix in DOCUMENTS:
        return read_document(path, name)
    found, findings = measurements.read(path, name=visible(name))
    return ((found,) if found is not None else ()), findings


def summary(outcome: Outcome) -> Iterator[str]:
    """A line for every point that was used, for every reason with those that were not, and the scalars."""
    fitted = outcome.fitted
    for place, index in enumerate(outcome.used):
        assert fitted is not None
        point = outcome.points[index]
        before, after = (
            f"{math.exp(values[place]) - 1:+.1%}".replace("%", " %") for values in (fitted.before, fitted.after)
        )
        odd = ", disagrees with the others" if fitted.weights[place] < OUTLIER else ""
        shown = (
            f"{point.observation.name} {value_text(point, point.observation.value)}: off {before}, then {after}{odd}"
        )
        yield visible(f"{point.source}: {run_text(point)}: {shown}")
    reasons: dict[str, list[str]] = {}
    for index, point in enumerate(outcome.points):
        if index not in outcome.used:
            reasons.setdefault(point.rejected, []).append(point.observation.name)
    for reason, names in reasons.items():
        counted = f"{len(names)} figures" if len(names) > 1 else names[0]
        yield visible(f"not used: {counted}: {reason}")
    if fitted is not None and not outcome.helped:
        yield "the points are no nearer with any scalars: every one stays at 1"
    for name, value in outcome.multipliers.items():
        yield f"{name} x{value:.3g}"
