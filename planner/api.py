"""The Python API: small, typed, the same judgement as the command line.

Expected problems are findings of what is returned; an exception is a wrong call or a bug. Nothing is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from pathlib import Path

from planner import source
from planner.findings import Finding, Verdict
from planner.pipeline import Judgement, judge_file, judge_loaded
from planner.source.document import Document

Name = str | Path


def load_spec(path: Name) -> tuple[Document | None, tuple[Finding, ...]]:
    """The effective document of a spec, after `extends`; or None, and the findings that say why."""
    return source.load(Path(path), display=Path(path).as_posix())


def check_spec(path: Name, *, today: date | None = None, sets: Sequence[str] = ()) -> Judgement:
    """The judgement of the spec in a file, as `planner check` makes it.

    today: the date that waivers are judged by, the clock's where it is None. sets: `/path=value` what-ifs.
    """
    return judge_file(Path(path), display=Path(path).as_posix(), today=_iso(today), sets=_assignments(sets))


def check_text(
    text: str,
    *,
    name: str = "<text>",
    folder: Name | None = None,
    today: date | None = None,
    sets: Sequence[str] = (),
) -> Judgement:
    """As `check_spec`, of a spec that is in no file.

    name: what findings call it. folder: where its references start, the working folder where it is None.
    """
    if not isinstance(text, str):
        raise TypeError(f"text is a str, not {type(text).__name__}")
    document, findings = source.parse(text, file=name, folder=None if folder is None else Path(folder))
    return judge_loaded(name, document, findings, today=_iso(today), sets=_assignments(sets))


def check_specs(paths: Iterable[Name], *, today: date | None = None, sets: Sequence[str] = ()) -> tuple[Judgement, ...]:
    """The judgement of every spec that `paths` stand for; a folder stands for the specs below it.

    A path that names nothing is a judgement with `judged=False`, before the others; it hides none of them.
    """
    files, faults = source.expand(Path(path) for path in paths)
    day = _iso(today)
    missing = (_not_judged(fault) for fault in faults)
    return (
        *missing,
        *(judge_file(file, display=file.as_posix(), today=day, sets=_assignments(sets)) for file in files),
    )


def render_report(judgement: Judgement, format: str = "markdown") -> str:  # noqa: A002 - as the command line calls it
    """The decision report, `markdown` or `html`. A ValueError for another format, and for a spec without a plan."""
    from planner import reporting

    if format not in ("markdown", "html"):
        raise ValueError(f"no report format is called {format!r}: markdown or html")
    return reporting.texts(judgement, (format,))[format]


def render_findings(judgements: Sequence[Judgement], format: str = "json") -> str:  # noqa: A002 - as above
    """Findings and figures in a format of `planner check`, without colour. A ValueError for another format."""
    from planner import output

    if format not in output.names():
        raise ValueError(f"no output format is called {format!r}: {', '.join(output.names())}")
    return output.render(format, judgements, output.Options())


def _iso(today: date | None) -> str:
    """The day alone: a waiver holds to the end of its last day."""
    day = date.today() if today is None else today
    if not isinstance(day, date):
        raise TypeError(f"today is a datetime.date, not {type(day).__name__}")
    return (day.date() if isinstance(day, datetime) else day).isoformat()


def _assignments(sets: Sequence[str]) -> Sequence[str]:
    if isinstance(sets, str):
        raise TypeError(f"sets is a list of assignments, not one text: [{sets!r}]")
    return sets


def _not_judged(fault: Finding) -> Judgement:
    file = fault.location.file if fault.location else ""
    return Judgement(file, None, None, None, (fault,), Verdict.INVALID, judged=False)
