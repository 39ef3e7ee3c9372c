"""`-` stands for standard input, wherever a SPEC does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.source import LARGEST_BYTES
from tests.unit.cli.conftest import spec_text

Write = Callable[..., str]


def piped(text: str | bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    data = text.encode() if isinstance(text, str) else text
    return subprocess.run([sys.executable, "-m", "planner", *arguments], input=data, capture_output=True)


@pytest.mark.parametrize(("kind", "status"), [("feasible", 0), ("too-big", 1), ("invalid", 1)])
def test_it_is_judged_as_a_file_is(kind: str, status: int, write: Write) -> None:
    found = piped(spec_text(kind), "check", "--format", "json", "-")
    assert found.returncode == status
    [result] = json.loads(found.stdout)["results"]
    assert result["spec"]["path"] == "<stdin>"
    by_file = json.loads(piped("", "check", "--format", "json", write(kind)).stdout)["results"][0]
    assert result["verdict"] == by_file["verdict"]
    assert [item["id"] for item in result["findings"]] == [item["id"] for item in by_file["findings"]]


def test_it_stands_beside_files_and_extends_them(write: Write, project: Path) -> None:
    write("base", text=spec_text("feasible").replace("kind: Deployment", "kind: Base"))
    text = "apiVersion: planner/v1\nkind: Deployment\nmetadata: {name: piped}\nextends: specs/base.yaml\n"
    found = piped(text, "check", write("too-big"), "-")
    assert found.returncode == 1
    assert b"<stdin>: feasible" in found.stdout and b"specs/too-big.yaml: infeasible" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "-"), b"kind: Deployment"),
        (("report", "--stdout", "-"), b"# feasible"),
        (("explain", "decode_step", "-"), b"decode_step: one step"),
    ],
)
def test_other_commands_read_it_too(arguments: tuple[str, ...], said: bytes, project: Path) -> None:
    found = piped(spec_text("feasible"), *arguments)
    assert found.returncode == 0, found.stderr
    assert said in found.stdout


def test_it_has_the_limits_of_files(project: Path) -> None:
    large = piped(b"#" * (LARGEST_BYTES + 1), "check", "-")
    assert large.returncode == 1 and b"<stdin>:1:1: file-too-large" in large.stdout
    assert b"file-encoding" in piped(b"a: \xff", "check", "-").stdout
    assert b"yaml-empty" in piped("", "check", "-").stdout


def test_closed_it_is_status_two(project: Path) -> None:
    command = f"{sys.executable} -m planner check - <&-"
    found = subprocess.run(["bash", "-c", command], capture_output=True)
    assert found.returncode == 2 and b"cannot read standard input" in found.stderr
