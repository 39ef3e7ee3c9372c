"""Findings of this package: what makes a file unreadable. Each is an error and makes the spec invalid."""

from __future__ import annotations

from planner.findings import Finding, Location, Severity, Verdict

COULD_NOT_JUDGE = frozenset(
    {
        "file-not-found",
        "file-none-matched",
        "file-unreadable",
        "file-is-folder",
        "file-not-regular",
        "set-syntax",
        "set-unknown-path",
    }
)
"""Ids that say that there was nothing to judge, or no such what-if (exit code 2), rather than that a spec is wrong."""


def fault(id_: str, message: str, location: Location, *, hint: str = "", path: str = "") -> Finding:
    """An error that ends its file."""
    return Finding(
        id=id_,
        severity=Severity.ERROR,
        message=message,
        hint=hint,
        path=path,
        location=location,
        verdict=Verdict.INVALID,
    )
