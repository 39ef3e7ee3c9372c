"""Judging what a command line names: files, folders, several at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from planner import source
from planner.cli import options
from planner.findings import Verdict
from planner.pipeline import Judgement, judge_file


def judge_all(specs: Sequence[Path], sets: Sequence[str] = ()) -> list[Judgement]:
    """Every spec that `specs` stands for, in order; what names nothing is a judgement that could not be made."""
    files, faults = source.expand(specs)
    today = options.today()
    judgements = [judge_file(path, display=path.as_posix(), today=today, sets=sets) for path in files]
    missing = [
        Judgement(
            fault.location.file if fault.location else "", None, None, None, (fault,), Verdict.INVALID, judged=False
        )
        for fault in faults
    ]
    return [*missing, *judgements]
