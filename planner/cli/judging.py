"""Judging what a command line names: files, folders, several at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from planner import source
from planner.cli import options, reading
from planner.findings import Verdict
from planner.pipeline import Judgement, judge_loaded

MANY = 100
"""Specs from which a second process is worth its start."""
MOST_PROCESSES = 4
"""Each holds the catalogue and the schemas, some 60 MB: more would take memory that a job in CI does not have."""
AT_ONCE = 25
"""Specs handed to a process together."""


def judge_all(specs: Sequence[Path], sets: Sequence[str] = (), skipped: list[Path] | None = None) -> list[Judgement]:
    """Every spec that `specs` stands for, in order; what names nothing is a judgement that could not be made.

    skipped: takes the YAML files of folders that are no planner documents.
    """
    files, faults = source.expand(specs, skipped)
    today = options.today()
    piped = reading.standard_input() if source.STDIN in files else None
    judgements = _judged(files, partial(_judge, today=today, sets=tuple(sets), piped=piped))
    missing = [
        Judgement(
            fault.location.file if fault.location else "", None, None, None, (fault,), Verdict.INVALID, judged=False
        )
        for fault in faults
    ]
    return [*missing, *judgements]


def _judge(path: Path, *, today: str, sets: tuple[str, ...], piped: bytes | None) -> Judgement:
    document, findings = reading.load(path, piped)
    return judge_loaded(reading.shown(path), document, findings, today=today, sets=sets)


def _judged(files: Sequence[Path], judge: Callable[[Path], Judgement]) -> list[Judgement]:
    """In order. Specs are judged apart from each other, so many of them are shared out over the processors."""
    processors = min(_processors(), MOST_PROCESSES)
    if len(files) < MANY or processors < 2:
        return [judge(path) for path in files]
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(processors, len(files) // AT_ONCE), initializer=_left_to_the_parent) as pool:
        return list(pool.map(judge, files, chunksize=AT_ONCE))


def _processors() -> int:
    """Those that this process may use, which in a container are fewer than there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _left_to_the_parent() -> None:
    """Ctrl-C reaches every process of the group; only the one that was called says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
