"""Many specs are judged over several processes: the same answers, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from planner.cli import judging

Write = Callable[..., str]
Planner = Callable[..., Result]


def test_the_same_bytes_as_one_after_another(
    project: Path, write: Write, planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for index in range(judging.MANY):
        write(("feasible", "too-big", "invalid", "at-risk")[index % 4], name=f"spec-{index:03d}")
    shared = planner("check", "--format", "json", "specs")
    monkeypatch.setattr(judging, "MANY", 10**6)
    alone = planner("check", "--format", "json", "specs")
    assert shared.exit_code == alone.exit_code == 1
    assert shared.stdout == alone.stdout
