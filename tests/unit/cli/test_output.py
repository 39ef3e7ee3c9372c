"""Where text goes, whole or not at all; colour; the same bytes every time; nothing hostile on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Write = Callable[..., str]
Planner = Callable[..., Result]
ESCAPE = "\x1b["


def test_output_goes_whole_to_a_file(write: Write, planner: Planner, project: Path) -> None:
    path = write("feasible")
    printed = planner("check", path)
    filed = planner("check", "--output", "out/findings.txt", path)
    assert (filed.exit_code, filed.stdout) == (0, "")
    assert (project / "out" / "findings.txt").read_text("utf-8") == printed.stdout
    assert [item.name for item in (project / "out").iterdir()] == ["findings.txt"]


def test_a_file_that_cannot_be_written_stays_as_it_was(write: Write, planner: Planner, project: Path) -> None:
    (project / "taken").write_text("before", "utf-8")
    found = planner("check", "--output", "taken/findings.txt", write("feasible"))
    assert found.exit_code == 2
    assert "cannot write taken/findings.txt" in found.stderr
    assert (project / "taken").read_text("utf-8") == "before"
    assert sorted(item.name for item in project.iterdir()) == ["planner.yaml", "specs", "taken"]


def test_an_interrupted_write_leaves_the_old_file(
    write: Write, planner: Planner, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("feasible")
    target = project / "findings.txt"
    target.write_text("before", "utf-8")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    found = planner("check", "--output", "findings.txt", path)
    assert found.exit_code == 2
    assert target.read_bytes() == b"before"
    assert sorted(item.name for item in project.iterdir()) == ["findings.txt", "planner.yaml", "specs"]


@pytest.mark.parametrize(
    ("arguments", "environment", "colored"),
    [
        ((), {}, False),  # standard output is no terminal here
        (("--color", "always"), {}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_color(
    arguments: tuple[str, ...],
    environment: dict[str, str],
    colored: bool,
    write: Write,
    planner: Planner,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert (ESCAPE in planner("check", *arguments, write("feasible")).stdout) is colored


def test_forced_color_stays_out_of_files(
    write: Write, planner: Planner, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    planner("check", "--output", "findings.txt", write("feasible"))
    assert ESCAPE not in (project / "findings.txt").read_text("utf-8")


def run(*arguments: str, seed: str) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run([sys.executable, "-m", "planner", *arguments], env=environment, capture_output=True).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--format", "text", "specs"),
        ("check", "--format", "json", "specs"),
        ("report", "--stdout", "specs"),
        ("report", "--stdout", "--format", "html", "specs"),
        ("show", "--origins", "specs/at-risk.yaml"),
    ],
)
def test_same_bytes_whatever_the_hash_seed(arguments: tuple[str, ...], write: Write, project: Path) -> None:
    for kind in ("at-risk", "too-big", "invalid"):
        write(kind)
    first = run(*arguments, seed="1")
    assert first
    assert first == run(*arguments, seed="2718")


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_nothing_of_this_machine_is_printed(output_format: str, write: Write, planner: Planner, project: Path) -> None:
    paths = [write(kind) for kind in ("feasible", "too-big", "invalid")]
    found = planner("check", "--format", output_format, *paths, "specs/no-such.yaml")
    assert str(project) not in found.stdout + found.stderr


HOSTILE = '"a\\e[31mred\\e]0;title\\a\\r\\nsecond\\u202Eline\\u0000end\\u2028x"'
RAW = ("\x1b", "\x07", "\r", "\u202e", "\x00", "\u2028")
PLACES = {
    "unknown value": "engine: {name: HOSTILE}",
    "unknown key": "HOSTILE: 1",
    "quantity": "hardware: {accelerator: {memory: HOSTILE}}",
    "name": "metadata: {name: HOSTILE}",
    "reason": "waivers: [{finding: memory-does-not-fit, path: /hardware, reason: HOSTILE, expires: 2027-01-31}]",
    "expires": "waivers: [{finding: memory-does-not-fit, path: /hardware, reason: x, expires: HOSTILE}]",
    "finding": "waivers: [{finding: HOSTILE, path: HOSTILE, reason: x, expires: 2020-01-31}]",
    "class": "workload: {load: {concurrency: 16}, classes: [{name: HOSTILE, context_tokens: 8192}]}",
    "reference": "model: {ref: HOSTILE}",
    "extends": "extends: HOSTILE",
    "lever": "levers: [{use: HOSTILE}]",
    "lever name": "levers: [{use: change, name: HOSTILE, set: {engine: {name: ideal}}}]",
    "description": "metadata: {name: x, description: HOSTILE}",
}


@pytest.mark.parametrize(
    "command", [("check",), ("check", "--color", "never", "--format", "json"), ("show",), ("report", "--stdout")]
)
@pytest.mark.parametrize("place", PLACES)
def test_hostile_text_never_reaches_a_terminal_raw(
    place: str, command: tuple[str, ...], write: Write, planner: Planner
) -> None:
    base = write("too-big", name="base-of-it")
    line = PLACES[place].replace("HOSTILE", HOSTILE)
    head = "apiVersion: planner/v1\nkind: Deployment\n" + ("" if place == "extends" else "extends: ./base-of-it.yaml\n")
    found = planner(*command, write("hostile", text=f"{head}{line}\n"))
    assert base.endswith(".yaml")
    assert found.exit_code in (0, 1)
    text = found.stdout + found.stderr
    assert not [repr(character) for character in RAW if character in text]


def test_a_hostile_file_name_is_escaped(write: Write, planner: Planner, project: Path) -> None:
    name = "specs/a\x1b[31m\u202eb.yaml"
    (project / name).write_bytes((project / write("feasible")).read_bytes())
    for arguments in (
        ("check", name),
        ("check", "specs"),
        ("check", "specs/\x1b]0;x.yaml"),
        ("report", "--stdout", name),
    ):
        found = planner(*arguments)
        assert not [repr(character) for character in RAW if character in found.stdout + found.stderr], arguments
