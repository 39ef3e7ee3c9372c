"""What is wrong at one place of a document, before it is a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.findings import Finding, Severity, Verdict
from planner.source.document import Document, NodePath


@dataclass(frozen=True, slots=True)
class Problem:
    """path: of the value. at_key: the place to show is the key, not the value."""

    id: str
    path: NodePath
    message: str
    hint: str = ""
    at_key: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    def finding(self, document: Document) -> Finding:
        """The error that makes the spec invalid, with its place in the file."""
        return Finding(
            self.id,
            Severity.ERROR,
            self.message,
            self.hint,
            document.pointer(self.path),
            self.values,
            document.location(self.path, key=self.at_key),
            Verdict.INVALID,
        )
