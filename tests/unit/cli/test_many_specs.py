"""Many specs are judged over several processes: the same answers, in the same order."""

from __future__ import annotations

import json
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


def test_a_base_is_valid_and_other_yaml_is_counted(project: Path, write: Write, planner: Planner) -> None:
    write("feasible")
    (project / "specs" / "base.yaml").write_text("apiVersion: planner/v1\nkind: Base\nengine: {name: ideal}\n", "utf-8")
    (project / "specs" / "other.yaml").write_text("services: {}\n", "utf-8")
    lines = planner("check", "specs").stdout.splitlines()
    assert lines[-2:] == ["1 file skipped: not planner documents", "2 specs: 1 feasible, 1 valid"]
    assert json.loads(planner("check", "--format", "json", "specs").stdout)["skipped"] == 1


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
def test_an_invalid_spec_fails_the_folder_however_it_was_saved(
    project: Path, write: Write, planner: Planner, mark: str
) -> None:
    write("feasible")
    saved = project / write("invalid", name="saved")
    saved.write_text(saved.read_text("utf-8"), mark)
    result = planner("check", "specs")
    assert result.exit_code == 1 and "specs/saved.yaml: invalid" in result.stdout
