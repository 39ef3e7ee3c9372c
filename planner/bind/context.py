"""What every binder needs: the document, the catalogue folders, and a place to collect findings and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner import source
from planner.domain.plan import Origin
from planner.findings import Finding, Severity, Verdict
from planner.source.document import Document, NodePath


@dataclass(slots=True)
class Binding:
    """Collects while one document is bound. folders: the project's own catalogue folders, searched first."""

    document: Document
    folders: tuple[Path, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    catalogue: dict[str, str] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)

    def section(self, name: str) -> Mapping[str, Any]:
        value = self.document.data.get(name)
        return value if isinstance(value, Mapping) else {}

    def fault(
        self,
        identifier: str,
        path: NodePath,
        message: str,
        hint: str = "",
        *,
        severity: Severity = Severity.ERROR,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        """A finding at `path`; an error makes the spec invalid."""
        self.findings.append(
            Finding(
                identifier,
                severity,
                message,
                hint,
                self.document.pointer(path),
                values or {},
                self.document.location(path),
                Verdict.INVALID if severity is Severity.ERROR else None,
            )
        )

    def adopt(self, findings: tuple[Finding, ...] | list[Finding], path: NodePath) -> None:
        """Findings of a reader that knows no document: put them at `path`."""
        for found in findings:
            verdict = Verdict.INVALID if found.severity is Severity.ERROR else found.verdict
            where = found.location or self.document.location(path)
            self.findings.append(
                Finding(
                    found.id,
                    found.severity,
                    found.message,
                    found.hint,
                    self.document.pointer(path),
                    found.values,
                    where,
                    verdict,
                )
            )

    def file(self, reference: str, path: NodePath) -> Path | None:
        """The file that a reference in the spec names, inside the project; None after a finding."""
        pointer = self.document.pointer(path)
        found = source.resolve(reference, self.document.location(path), self.document, path=pointer)
        if isinstance(found, Finding):
            self.findings.append(found)
            return None
        return found
