"""What the planner has to say about a spec, and the verdict that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Verdict(StrEnum):
    """From best to worst. `unproven`: feasible on paper, evidence missing or stale."""

    FEASIBLE = "feasible"
    AT_RISK = "at-risk"
    UNPROVEN = "unproven"
    INFEASIBLE = "infeasible"
    INVALID = "invalid"


WORST_LAST = tuple(Verdict)


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """Where in which file. Lines and columns count from 1; the file is as the caller named it, with `/`."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Waiver:
    """An excuse for one finding: all four are required in the spec. `expires` is an ISO date."""

    finding: str
    path: str
    reason: str
    expires: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say.

    message: what is wrong, with the number and the limit. hint: the smallest change that passes.
    path: JSON pointer of the value in the spec; items of lists with names are addressed by name.
    values: the numbers behind the message, for machines. verdict: the best verdict that the spec can
    still have while the finding stands unwaived; None where it changes nothing.
    """

    id: str
    severity: Severity
    message: str
    hint: str = ""
    path: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    location: Location | None = None
    verdict: Verdict | None = None
    waived: Waiver | None = None


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """The worst verdict that an unwaived finding forces; `feasible` where none does."""
    forced = [finding.verdict for finding in findings if finding.verdict is not None and finding.waived is None]
    return max(forced, key=WORST_LAST.index, default=Verdict.FEASIBLE)
