"""The project: `planner.yaml` at its root names catalogue folders, severities and the report folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from planner import contract, finding_ids, source
from planner.findings import Finding, Location, Severity, Verdict
from planner.quoting import quoted

FILE = "planner.yaml"


@dataclass(frozen=True, slots=True)
class Project:
    """catalogue: folders searched before the packaged one. severities: {finding id: severity}. reports: a folder."""

    root: Path
    catalogue: tuple[Path, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    reports: str = "reports"
    findings: tuple[Finding, ...] = ()


@lru_cache(maxsize=64)
def project_of(root: Path) -> Project:
    """What `planner.yaml` at `root` says; defaults where there is none. A faulty one is a finding of every spec."""
    file = root / FILE
    if not file.is_file():
        return Project(root)
    document, findings = source.load(file, display=FILE)
    if document is None:
        return Project(root, findings=findings)
    problems = contract.validate(document) or tuple(_unknown_findings(document))
    if problems:
        return Project(root, findings=(*findings, *problems))
    if document.kind != "Project":
        return Project(root, findings=(*findings, _not_a_project(document)))
    folders, faults = _folders(document, root)
    faults += _reports(document, root)
    severities = {key: Severity(value) for key, value in (document.data.get("severities") or {}).items()}
    reports = str(document.data.get("reports", "reports"))
    return Project(root, folders, severities, reports, (*findings, *faults))


def _unknown_findings(document: source.Document) -> Iterator[Finding]:
    """Severities of findings that there are none of."""
    for name in document.data.get("severities") or {} if document.kind == "Project" else ():
        if name not in finding_ids.known():
            path = ("severities", name)
            yield Finding(
                "unknown-finding",
                Severity.ERROR,
                f"there is no finding {quoted(name)}",
                finding_ids.nearest(name),
                document.pointer(path),
                {},
                document.location(path, key=True),
                Verdict.INVALID,
            )


def _not_a_project(document: source.Document) -> Finding:
    message = f"{FILE} is a {quoted(document.kind)}, so it says nothing of the project"
    hint = f"Write `kind: Project` in it, or give the {document.kind} another name."
    return Finding("project-not-a-project", Severity.WARNING, message, hint, "/kind", {}, document.location(("kind",)))


def _folders(document: source.Document, root: Path) -> tuple[tuple[Path, ...], tuple[Finding, ...]]:
    folders: list[Path] = []
    faults: list[Finding] = []
    for index, name in enumerate(document.data.get("catalogue") or ()):
        path = ("catalogue", index)
        folder = (root / str(name)).resolve()
        if folder.is_dir() and folder.is_relative_to(root):
            folders.append(folder)
        else:
            where = document.location(path)
            faults.append(_missing(document.pointer(path), where))
    return tuple(folders), tuple(faults)


def _reports(document: source.Document, root: Path) -> tuple[Finding, ...]:
    """A report folder inside the project: a spec is untrusted text, and so is this, but it says where files go."""
    name = str(document.data.get("reports", "reports"))
    try:
        inside = name.isprintable() and (root / name).resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):
        inside = False
    if inside:
        return ()
    message = f"the report folder {quoted(name)} is not inside the project"
    hint = "Name a folder below this file, or give another to `planner report --directory`."
    where = document.location(("reports",))
    return (Finding("reports-outside-project", Severity.ERROR, message, hint, "/reports", {}, where, Verdict.INVALID),)


def _missing(pointer: str, where: Location) -> Finding:
    return Finding(
        "catalogue-folder-not-found",
        Severity.ERROR,
        "this catalogue folder is not a folder inside the project",
        "Make it, or remove the line.",
        pointer,
        {},
        where,
        Verdict.INVALID,
    )
