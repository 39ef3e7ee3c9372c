"""`planner report` of a folder writes the index over all; of single specs it leaves it alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[..., str]
Planner = Callable[..., Any]


def test_a_folder_has_an_index(write: Write, planner: Planner, project: Path) -> None:
    write("feasible", "one")
    write("feasible", "two")
    result = planner("report", "specs")
    assert result.exit_code == 0, result.stderr
    text = (project / "reports/index.md").read_text("utf-8")
    assert "[one](one.md)" in text and "[two](two.md)" in text
    assert 'href="one.html"' in (project / "reports/index.html").read_text("utf-8")
    assert planner("report", "specs", "--check").exit_code == 0


def test_a_stale_index_fails_the_check(write: Write, planner: Planner, project: Path) -> None:
    write("feasible", "one")
    planner("report", "specs")
    (project / "reports/index.md").write_text("old", "utf-8")
    result = planner("report", "specs", "--check")
    assert result.exit_code == 1
    assert result.stdout == "reports/index.md: stale; run `planner report`\n"


def test_a_new_spec_makes_the_index_stale(write: Write, planner: Planner, project: Path) -> None:
    write("feasible", "one")
    planner("report", "specs")
    path = write("feasible", "two")
    planner("report", path)
    result = planner("report", "specs", "--check")
    assert result.exit_code == 1
    assert result.stdout.count("index.") == 2 and "two" not in result.stdout


def test_a_single_spec_leaves_the_index_alone(write: Write, planner: Planner, project: Path) -> None:
    planner("report", write("feasible", "one"))
    assert not (project / "reports/index.md").exists()


def test_one_format_and_another_folder(write: Write, planner: Planner, project: Path) -> None:
    write("feasible", "one")
    planner("report", "specs", "--format", "markdown", "-d", "elsewhere")
    assert sorted(path.name for path in (project / "elsewhere").iterdir()) == ["index.md", "one.md"]


def test_an_invalid_spec_is_in_the_index(write: Write, planner: Planner, project: Path) -> None:
    write("feasible", "one")
    write("feasible", "broken", "apiVersion: planner/v1\nkind: Deployment\nmetadata: {name: broken}\n")
    assert planner("report", "specs").exit_code == 1
    assert "| broken (specs/broken.yaml) | invalid |" in (project / "reports/index.md").read_text("utf-8")


def test_a_deployment_called_index_is_refused(write: Write, planner: Planner, project: Path) -> None:
    write("feasible", "index")
    result = planner("report", "specs")
    assert result.exit_code == 1
    assert "a deployment is called index" in result.stderr
    assert "Decision report of specs/index.yaml" in (project / "reports/index.md").read_text("utf-8")
