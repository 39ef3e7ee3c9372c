"""Judging what a command line names: files, folders, several at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from planner import source
from planner.cli import options
from planner.findings import Verdict
from planner.pipeline import Judgement, judge_file

MANY = 100
"""Specs from which a second process is worth its start."""
AT_ONCE = 25
"""Specs handed to a process together."""


def judge_all(specs: Sequence[Path], sets: Sequence[str] = (), skipped: list[Path] | None = None) -> list[Judgement]:
    """Every spec that `specs` stands for, in order; what names nothing is a judgement that could not be made.

    skipped: takes the YAML files of folders that are no planner documents.
    """
    files, faults = source.expand(specs, skipped)
    today = options.today()
    judgements = _judged(files, partial(_judge, today=today, sets=tuple(sets)))
    missing = [
        Judgement(
            fault.location.file if fault.location else "", None, None, None, (fault,), Verdict.INVALID, judged=False
        )
        for fault in faults
    ]
    return [*missing, *judgements]


def _judge(path: Path, *, today: str, sets: tuple[str, ...]) -> Judgement:
    return judge_file(path, display=path.as_posix(), today=today, sets=sets)


def _judged(files: Sequence[Path], judge: Callable[[Path], Judgement]) -> list[Judgement]:
    """In order. Specs are judged apart from each other, so many of them are shared out over the processors."""
    processors = os.cpu_count() or 1
    if len(files) < MANY or processors < 2:
        return [judge(path) for path in files]
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(processors, len(files) // AT_ONCE), initializer=_left_to_the_parent) as pool:
        return list(pool.map(judge, files, chunksize=AT_ONCE))


def _left_to_the_parent() -> None:
    """Ctrl-C reaches every process of the group; only the one that was called says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
