"""Standard output that is a pipe, full, closed or not UTF-8; Ctrl-C. No traceback, and the right exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import Result

Write = Callable[..., str]
Planner = Callable[..., Result]
ROOT = Path(__file__).parents[3]
PLANNER = (sys.executable, "-m", "planner")


def _environment(**more: str) -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def _shell(line: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", line, "planner", *PLANNER], capture_output=True, env=_environment(**more), timeout=60
    )


@pytest.mark.parametrize(("kind", "status"), [("feasible", 0), ("too-big", 1)])
def test_a_reader_that_has_enough_changes_no_status(kind: str, status: int, write: Write) -> None:
    found = _shell(f'"$@" check {write(kind)} | true; exit "${{PIPESTATUS[0]}}"')
    assert (found.returncode, found.stderr) == (status, b"")


def test_help_that_nobody_reads_is_silent(project: Path) -> None:
    assert _shell('"$@" check --help | true').stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
@pytest.mark.parametrize("words", ["check specs/feasible.yaml", "--help", "catalog list", "schema"])
def test_a_full_disk_is_status_two(words: str, write: Write) -> None:
    write("feasible")
    found = _shell(f'"$@" {words} > /dev/full')
    assert found.returncode == 2
    assert b"cannot write to standard output: No space left on device" in found.stderr
    assert b"Traceback" not in found.stderr
    assert b"internal error" not in found.stderr


def test_a_closed_standard_output_is_status_two(write: Write) -> None:
    found = _shell(f'"$@" check {write("feasible")} >&-')
    assert found.returncode == 2
    assert b"standard output is closed; use --output" in found.stderr


@pytest.mark.parametrize(
    "words", ["--help", "check --help", "check specs/feasible.yaml", "report --stdout specs/feasible.yaml"]
)
def test_an_ascii_terminal_without_a_home_is_no_obstacle(words: str, write: Write) -> None:
    write("feasible")
    found = _shell(f'env -u HOME "$@" {words}', PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0", NO_COLOR="1")
    assert found.returncode == 0
    assert found.stderr == b""
    assert b"\x1b" not in found.stdout
    assert found.stdout.decode("utf-8")


def test_a_name_that_is_no_text_is_shown(project: Path) -> None:
    """A file name of a byte that is not UTF-8."""
    found = _shell("""\"$@" check $'specs/\\xff.yaml'""", PYTHONIOENCODING="ascii")
    assert found.returncode == 2
    assert b"file-not-found" in found.stdout
    assert b"Traceback" not in found.stderr


def test_reports_that_cannot_be_written_say_so(write: Write, planner: Planner, project: Path) -> None:
    """`reports` is a file: nothing is written beside it."""
    (project / "reports").write_text("", "utf-8")
    found = planner("report", write("feasible"))
    assert found.exit_code == 2
    assert "cannot write reports/feasible.md: " in found.stderr
    assert [path.name for path in project.rglob("*.part")] == []


@pytest.mark.parametrize("count", [30, 120], ids=["one process", "several"])
def test_an_interrupted_run_says_so_in_one_line(count: int, write: Write, project: Path) -> None:
    for index in range(count):
        write("at-risk", f"s{index}")
    # A start that is ready for Ctrl-C has read its first spec: the process is up once it sleeps no more.
    with subprocess.Popen(
        [*PLANNER, "report", "-d", "out", "specs"],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        if count < 100:
            process.stderr.readline()  # the first report is written
        else:
            time.sleep(1.0)
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
    last = error.splitlines()[-1]
    assert (process.returncode, last) == (130, b"planner: interrupted")
    assert b"Traceback" not in error
    assert list(project.rglob("*.part")) == []
