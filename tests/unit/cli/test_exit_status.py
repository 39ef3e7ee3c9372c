"""0: judged and everything holds. 1: judged and something does not. 2: could not judge. Nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Write = Callable[..., str]
Planner = Callable[..., Result]


@pytest.mark.parametrize(
    ("kind", "status", "verdict"),
    [
        ("feasible", 0, "feasible"),
        ("at-risk", 0, "at-risk"),
        ("expected", 0, "infeasible (as expected)"),
        ("too-big", 1, "infeasible"),
        ("too-slow", 1, "infeasible"),
        ("unproven", 1, "unproven"),
        ("unexpected", 1, "feasible"),
        ("invalid", 1, "invalid"),
    ],
)
def test_of_a_verdict(kind: str, status: int, verdict: str, write: Write, planner: Planner) -> None:
    found = planner("check", write(kind))
    assert found.exit_code == status
    assert f"specs/{kind}.yaml: {verdict}\n" in found.stdout
    assert found.stderr == ""


def test_strict_fails_what_is_at_risk(write: Write, planner: Planner) -> None:
    assert planner("check", "--strict", write("at-risk")).exit_code == 1
    assert planner("check", "--strict", write("feasible")).exit_code == 0


def test_fail_on_warning(write: Write, planner: Planner) -> None:
    """At risk is a warning; the notes of the feasible spec are not."""
    assert planner("check", "--fail-on", "warning", write("at-risk")).exit_code == 1
    assert planner("check", "--fail-on", "warning", write("feasible")).exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "specs/no-such.yaml"),
        ("check", "specs"),  # an empty folder
        ("check",),
        ("check", "--format", "xml", "specs"),
        ("check", "--no-such-option", "specs"),
        ("chek", "specs"),
        ("report", "specs/no-such.yaml"),
        ("report", "specs"),
        ("show", "specs/no-such.yaml"),
        ("explain", "no-such-thing"),
        ("explain", "decode_step", "specs/no-such.yaml"),
        ("catalog", "show", "no-such-card"),
        ("init", "Not A Name"),
    ],
)
def test_what_cannot_be_judged(arguments: tuple[str, ...], planner: Planner) -> None:
    assert planner(*arguments).exit_code == 2


def test_a_missing_file_hides_no_spec(write: Write, planner: Planner) -> None:
    found = planner("check", "specs/no-such.yaml", write("too-big"), write("feasible"))
    assert found.exit_code == 2
    assert "specs/no-such.yaml: could not be judged" in found.stdout
    assert "specs/too-big.yaml: infeasible" in found.stdout
    assert "specs/feasible.yaml: feasible" in found.stdout


@pytest.mark.parametrize("order", [("invalid", "too-big", "feasible"), ("feasible", "too-big", "invalid")])
def test_no_spec_hides_another(order: tuple[str, ...], write: Write, planner: Planner) -> None:
    found = planner("check", *[write(kind) for kind in order])
    assert found.exit_code == 1
    for kind, verdict in (("invalid", "invalid"), ("too-big", "infeasible"), ("feasible", "feasible")):
        assert f"specs/{kind}.yaml: {verdict}" in found.stdout
    assert "unit-error" in found.stdout
    assert "memory-does-not-fit" in found.stdout
    assert "3 specs: 1 feasible, 1 infeasible, 1 invalid" in found.stdout


def test_a_broken_file_hides_no_spec(write: Write, planner: Planner) -> None:
    broken = write("broken", text="apiVersion: planner/v1\n\tkind: Deployment\n")
    found = planner("check", broken, write("feasible"))
    assert found.exit_code == 1
    assert "specs/broken.yaml: invalid" in found.stdout
    assert "specs/feasible.yaml: feasible" in found.stdout


def test_a_folder_stands_for_the_specs_below_it(write: Write, planner: Planner, project: Path) -> None:
    write("feasible")
    write("expected")
    (project / "specs" / "values.yaml").write_text("replicas: 3\n", "utf-8")  # not ours
    found = planner("check", "specs")
    assert found.exit_code == 0
    assert "2 specs: 1 feasible, 1 infeasible" in found.stdout
    assert "values.yaml" not in found.stdout


def test_one_file_named_twice_is_judged_once(write: Write, planner: Planner) -> None:
    path = write("feasible")
    assert planner("check", path, path, "specs").stdout == planner("check", path).stdout


def test_a_base_is_validated_not_judged(write: Write, planner: Planner) -> None:
    base = write("base", text="apiVersion: planner/v1\nkind: Base\nengine: {name: ideal}\n")
    found = planner("check", base)
    assert (found.exit_code, found.stdout) == (0, "specs/base.yaml: valid\n")


def test_an_expected_verdict_excuses_only_what_forces_it(write: Write, planner: Planner) -> None:
    path = write("expected")
    assert planner("check", "--set", "/metadata/expect=at-risk", path).exit_code == 1
    assert planner("check", "--set", "/hardware/accelerator/memory=80 Gb", path).exit_code == 1


def test_waived_findings_pass_until_their_date(write: Write, planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    waiver = "waivers: [{finding: objective-missed, path: PATH, reason: Agreed., expires: 2026-12-31}]\n"
    pointer = "/objectives/inter_token_latency/mean"
    slow = planner("show", write("too-slow")).stdout
    path = write("waived", text=slow + waiver.replace("PATH", pointer))
    found = planner("check", path)
    assert found.exit_code == 0
    assert "objective-missed" in found.stdout
    assert "waived until 2026-12-31: Agreed." in found.stdout
    monkeypatch.setenv("PLANNER_TODAY", "2027-01-01")
    late = planner("check", path)
    assert late.exit_code == 1
    assert "2026-12-31" in late.stdout


def test_a_bug_is_status_two_and_no_traceback(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from planner import checks, cli

    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(checks, "run", broken)
    monkeypatch.setattr("sys.argv", ["planner", "check", write("feasible")])
    monkeypatch.delenv("PLANNER_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert "internal error (ZeroDivisionError" in error
    assert "Traceback" not in error


def test_an_unknown_command_suggests_the_nearest(planner: Planner) -> None:
    assert "Did you mean 'check'?" in planner("chek").stderr
    assert "Did you mean 'catalog'?" in planner("catalogue").stderr


def test_an_unknown_option_suggests_the_nearest(planner: Planner) -> None:
    assert "--strict" in planner("check", "--strct", "specs").stderr
    assert "--format" in planner("check", "--fromat", "json", "specs").stderr


def test_help_and_version_are_status_zero(planner: Planner) -> None:
    assert planner("--help").exit_code == 0
    assert planner("check", "--help").exit_code == 0
    assert planner("--version").stdout.startswith("planner, version ")


def test_the_summary_tells_what_was_not_judged_from_what_is_invalid(write: Write, planner: Planner) -> None:
    found = planner("check", write("feasible"), write("invalid"), "specs/none.yaml")
    assert found.exit_code == 2
    assert found.stdout.splitlines()[-1] == "3 specs: 1 feasible, 1 invalid, 1 could not be judged"


def test_both_endings_of_yaml_files_count_in_a_folder(write: Write, planner: Planner, project: Path) -> None:
    (project / write("too-big")).rename(project / "specs" / "prod.yml")
    found = planner("check", "specs")
    assert found.exit_code == 1 and "specs/prod.yml: infeasible" in found.stdout


def test_two_specs_that_would_write_one_report_are_refused(write: Write, planner: Planner, project: Path) -> None:
    """Neither is written: whichever came last would stand for both, and `--check` could never pass."""
    first, second = write("feasible", name="same"), "specs/other name.yaml"
    (project / second).write_text((project / first).read_text("utf-8"), "utf-8")
    third = write("feasible", name="third")
    found = planner("report", "specs")
    assert found.exit_code == 1
    assert "reports/same would be the report of several" in found.stderr
    assert f"({second}, {first})" in found.stderr
    names = sorted(file.name for file in (project / "reports").iterdir())
    assert "third.md" in names and "same.md" not in names
    assert planner("report", "--check", "specs").exit_code == 1
    assert planner("report", "--directory", "out", first, third).exit_code == 0
