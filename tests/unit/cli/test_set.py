"""--set: what if, without editing a file. The same on check, report and show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Write = Callable[..., str]
Planner = Callable[..., Result]
MORE = "/workload/load/concurrency=64"


def test_check_judges_what_is_set(write: Write, planner: Planner, project: Path) -> None:
    path = write("feasible")
    before = (project / path).read_bytes()
    assert planner("check", path).exit_code == 0
    found = planner("check", "--set", MORE, path)
    assert found.exit_code == 1
    assert "memory-does-not-fit" in found.stdout
    assert (project / path).read_bytes() == before


def test_several_are_applied_in_order(write: Write, planner: Planner) -> None:
    path = write("feasible")
    assert planner("check", "--set", MORE, "--set", "/workload/load/concurrency=16", path).exit_code == 0
    assert (
        planner("check", "--set", MORE, "--set", "/hardware/accelerator/memory=160 GB", path).exit_code == 1
    )  # 82.7 ms
    relaxed = ("--set", "/objectives/inter_token_latency/mean=90 ms")
    assert (
        planner("check", "--set", MORE, "--set", "/hardware/accelerator/memory=160 GB", *relaxed, path).exit_code == 0
    )


def test_show_prints_what_is_set(write: Write, planner: Planner) -> None:
    assert "concurrency: 64" in planner("show", "--set", MORE, write("feasible")).stdout


def test_report_is_of_what_is_set(write: Write, planner: Planner) -> None:
    path = write("feasible")
    assert "**Infeasible.**" in planner("report", "--stdout", "--set", MORE, path).stdout
    assert "**Feasible.**" in planner("report", "--stdout", path).stdout


def test_a_wrong_value_is_found_where_it_was_given(write: Write, planner: Planner) -> None:
    found = planner("check", "--set", "/hardware/accelerator/memory=80", write("feasible"))
    assert found.exit_code == 1
    assert "unit-error" in found.stdout
    assert "--set /hardware/accelerator/memory" in found.stdout


def test_a_wrong_key_names_the_nearest(write: Write, planner: Planner) -> None:
    found = planner("check", "--set", "/hardware/derat={bandwidth: 0.8}", write("feasible"))
    assert found.exit_code == 1
    assert "derate" in found.stdout


def test_what_leads_nowhere_in_a_spec_cannot_be_asked_of_it(write: Write, planner: Planner) -> None:
    found = planner("check", "--set", "/engine/name/x=1", write("feasible"))
    assert found.exit_code == 2
    assert "set-unknown-path" in found.stdout
    assert "specs/feasible.yaml: could not be judged" in found.stdout
