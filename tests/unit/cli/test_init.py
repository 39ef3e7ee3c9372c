"""`planner init` in an empty folder: the whole first hour works, for every engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from planner import engines
from planner.cli import cli
from planner.source import root_of

Planner = Callable[..., Result]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with nothing in it, and no project above it."""
    folder = tmp_path / "a new folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    if root_of(folder) != folder:
        pytest.skip("the folder for tests lies in a project")
    return folder


def planner(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, prog_name="planner")


@pytest.mark.parametrize("engine", engines.names())
def test_from_nothing_to_a_guarded_report(engine: str, empty: Path) -> None:
    written = planner("init", "mine", "--engine", engine)
    assert written.exit_code == 0 and "next: planner check specs/mine.yaml" in written.stderr
    checked = planner("check", "--strict", "--fail-on", "warning", "specs")
    assert checked.exit_code == 0, checked.stdout
    assert "feasible" in checked.stdout
    assert planner("report", "specs").exit_code == 0
    assert sorted(file.name for file in (empty / "reports").iterdir()) == [
        "index.html", "index.md", "mine.html", "mine.md",
    ]  # fmt: skip
    assert planner("report", "--check", "specs").exit_code == 0


def test_the_project_is_marked_once_where_none_is(empty: Path) -> None:
    assert "wrote planner.yaml" in planner("init").stderr
    assert planner("check", "planner.yaml").exit_code == 0
    (empty / "planner.yaml").write_text("apiVersion: planner/v1\nkind: Project\nreports: out\n", "utf-8")
    assert "wrote planner.yaml" not in planner("init", "second").stderr
    assert "reports: out" in (empty / "planner.yaml").read_text("utf-8")


def test_a_file_that_is_there_is_kept_unless_forced(empty: Path) -> None:
    assert planner("init").exit_code == 0
    path = empty / "specs" / "starter.yaml"
    path.write_text("mine", "utf-8")
    assert planner("init").exit_code == 2
    assert path.read_text("utf-8") == "mine"
    assert planner("init", "--force").exit_code == 0
    assert path.read_text("utf-8") == planner("init", "--stdout").stdout


def test_printed_it_writes_nothing(empty: Path) -> None:
    found = planner("init", "--stdout", "--engine", "sglang")
    assert found.exit_code == 0 and "name: sglang " in found.stdout
    assert list(empty.iterdir()) == []


def test_completion_of_editors_points_only_at_a_schema_that_is_there(empty: Path) -> None:
    assert not planner("init", "--stdout").stdout.startswith("# yaml-language-server")
    (empty / "schema" / "v1").mkdir(parents=True)
    (empty / "schema" / "v1" / "deployment.schema.json").write_text("{}", "utf-8")
    first = planner("init", "--stdout").stdout.splitlines()[0]
    assert first == "# yaml-language-server: $schema=../schema/v1/deployment.schema.json"
