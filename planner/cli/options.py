"""Options that commands share, and what they mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import click

from planner.cli.parameters import FILE, assignments
from planner.findings import Finding, Severity, Verdict
from planner.pipeline import Judgement

Command = TypeVar("Command", bound=Callable[..., Any])

SETS = click.option(
    "--set",
    "sets",
    multiple=True,
    callback=assignments,
    metavar="/PATH=VALUE",
    help="Evaluate as if the spec said so. Items of lists by name: /levers/quantize-weights/status=adopt.",
)
COLOR = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour the text.",
)
OUTPUT = click.option(
    "--output",
    "-o",
    type=FILE,
    help="Write to a file in place of standard output.",
)


def today() -> str:
    """The date that waivers are judged by: PLANNER_TODAY where it is set (for tests and re-runs), else the clock's."""
    given = os.environ.get("PLANNER_TODAY", "")
    try:
        return date.fromisoformat(given).isoformat() if given else date.today().isoformat()
    except ValueError as error:
        raise click.UsageError(f"PLANNER_TODAY is not an ISO date: {error}") from error


def colored(choice: str, output: Path | None) -> bool:
    """--color, then NO_COLOR and FORCE_COLOR, then whether standard output is a terminal."""
    if choice != "auto":
        return choice == "always"
    if output is not None or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout is not None and sys.stdout.isatty())


def passes(judgement: Judgement, *, strict: bool, fail_on: str) -> bool:
    """Whether a spec holds: its verdict is the one that passes, and nothing else is an error.

    An expected verdict excuses the findings that force it; a lost objective at risk passes unless strict.
    """
    expected = judgement.expected
    accepted = {expected}
    if expected is Verdict.FEASIBLE and not strict:
        accepted.add(Verdict.AT_RISK)
    if judgement.verdict not in accepted:
        return False
    return not any(_fails(finding, judgement.verdict, fail_on) for finding in judgement.findings)


def _fails(finding: Finding, verdict: Verdict, fail_on: str) -> bool:
    if finding.waived is not None:
        return False
    if finding.severity is Severity.ERROR:
        order = tuple(Verdict)
        return finding.verdict is None or order.index(finding.verdict) > order.index(verdict)
    return finding.severity is Severity.WARNING and fail_on == "warning"


def exit_status(judgements: Sequence[Judgement], *, strict: bool, fail_on: str) -> int:
    """0 all hold; 1 something does not; 2 something could not be judged."""
    if any(not item.judged for item in judgements):
        return 2
    return 0 if all(passes(item, strict=strict, fail_on=fail_on) for item in judgements) else 1
