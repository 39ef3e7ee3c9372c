"""From a file to a judgement: read, validate, bind, evaluate, check, judge. Each stage takes only the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from planner import bind, checks, contract, evaluation, source, waivers
from planner.bind import names
from planner.checks import expectation_not_met
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.evaluation import calibrated
from planner.findings import Finding, Location, Severity, Verdict, verdict_of
from planner.project import FILE, Project, project_of
from planner.source.document import Document

SEVERITIES = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One spec, judged. plan and result are None only where the verdict is `invalid`.

    judged: False where there was nothing to judge (a missing file). expected: the verdict that passes.
    """

    file: str
    document: Document | None
    plan: Plan | None
    result: PlanResult | None
    findings: tuple[Finding, ...]
    verdict: Verdict
    judged: bool = True

    @property
    def expected(self) -> Verdict:
        metadata = self.document.data.get("metadata") if self.document else None
        expect = metadata.get("expect") if isinstance(metadata, dict) else None
        return Verdict(expect) if expect in set(Verdict) else Verdict.FEASIBLE

    @property
    def is_deployment(self) -> bool:
        return self.document is None or self.document.kind == "Deployment"


def _as_bound(plan: Plan) -> Plan:
    return plan


@dataclass(frozen=True, slots=True)
class Stages:
    """What may stand in for a stage. prepare: changes the plan that was bound. evaluate: gives its figures.

    without: checks that are not asked.
    """

    prepare: Callable[[Plan], Plan] = _as_bound
    evaluate: Callable[[Plan], PlanResult] = field(default=evaluation.run)
    without: tuple[str, ...] = ()


AS_CHECKED = Stages()


def judge_file(path: Path, *, display: str | None = None, today: str, sets: Sequence[str] = ()) -> Judgement:
    """The judgement of the spec in a file. today: an ISO date, for waivers. sets: `/path=value` what-ifs."""
    name = display if display is not None else path.as_posix()
    document, findings = source.load(path, display=name)
    return judge_loaded(name, document, findings, today=today, sets=sets)


def judge_loaded(
    name: str, document: Document | None, findings: tuple[Finding, ...], *, today: str, sets: Sequence[str] = (),
    stages: Stages = AS_CHECKED,
) -> Judgement:  # fmt: skip
    """The judgement of what reading `name` gave: a document, or the findings that say why there is none."""
    if document is not None:
        document, problems = source.set_values(document, sets)
        findings = (*findings, *problems)
    if document is None or any(finding.verdict is Verdict.INVALID for finding in findings):
        could = not any(finding.id in source.COULD_NOT_JUDGE for finding in findings)
        return Judgement(name, document, None, None, tuple(findings), Verdict.INVALID, could)
    return judge_document(document, today=today, before=findings, stages=stages)


def judge_document(
    document: Document, *, today: str, before: Iterable[Finding] = (), stages: Stages = AS_CHECKED
) -> Judgement:
    """The judgement of a document that has been read."""
    project = project_of(document.root)
    own = document.kind == "Project" and document.file.rsplit("/", 1)[-1] == FILE and document.folder == document.root
    findings = [*before, *project.findings, *(() if own else contract.validate(document))]
    plan: Plan | None = None
    result: PlanResult | None = None
    if document.kind == "Deployment" and verdict_of(findings) is not Verdict.INVALID:
        plan, problems = bind.plan(document, project.catalogue)
        findings += problems
        if plan is not None:
            plan = stages.prepare(calibrated.judged(plan))
            result = stages.evaluate(plan)
            findings += (_located(finding, document) for finding in checks.run(plan, result, stages.without))
    elif document.kind == "Deployment":
        findings += names.unresolved(document, project.catalogue)
    judged = waivers.apply(_as_set(findings, project), document, today) if plan is not None else tuple(findings)
    expect = plan.expect if plan is not None else None
    if expect is not None and verdict_of(judged) is not Verdict(expect):
        judged = (*judged, _located(expectation_not_met.mismatch(Verdict(expect), verdict_of(judged)), document))
    ordered = tuple(sorted(judged, key=_order))
    return Judgement(document.file, document, plan, result, ordered, verdict_of(ordered))


def _as_set(findings: Sequence[Finding], project: Project) -> tuple[Finding, ...]:
    """Severities as the project sets them. The verdict stays what the figures say."""
    return tuple(_reset(finding, project.severities.get(finding.id)) for finding in findings)


def _reset(finding: Finding, severity: Severity | None) -> Finding:
    if severity is None or finding.verdict is Verdict.INVALID:
        return finding
    return replace(finding, severity=severity)


def _order(finding: Finding) -> tuple[int, Location, str, str]:
    return SEVERITIES.index(finding.severity), finding.location or Location(""), finding.id, finding.path


def _located(finding: Finding, document: Document) -> Finding:
    """The line of what the finding's pointer names; that of the nearest thing above it where it is not written."""
    if finding.location is not None:
        return finding
    path: list[str | int] = []
    node: object = document.data
    for part in finding.path.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and step in node:
            path.append(step)
            node = node[step]
        elif isinstance(node, list | tuple) and (index := _index(node, step)) is not None:
            path.append(index)
            node = node[index]
        else:
            break
    return replace(finding, location=document.location(tuple(path)))


def _index(items: Sequence[object], label: str) -> int | None:
    for index, item in enumerate(items):
        if isinstance(item, dict) and label in (item.get("name"), item.get("use")):
            return index
    return int(label) if label.isdigit() and int(label) < len(items) else None
