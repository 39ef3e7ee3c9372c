"""What a command imports decides how fast it starts: the gate must be cheap, help nearly free."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = "specs/textbook-gqa.yaml"

# Runs the command line in this process, then tells on stderr what was imported. `blocked` packages cannot be: pint
# takes numpy where it is installed, so a run without it shows that nothing of ours needs it.
PROBE = """
import importlib.abc, json, sys
class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None
sys.meta_path.insert(0, Blocked())
from planner.cli import main
sys.argv = ["planner", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    status = stop.code or 0
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def run(*arguments: str, blocked: tuple[str, ...] = ()) -> tuple[int, str, set[str]]:
    """(exit status, standard output, modules imported) of `planner ARGUMENTS`."""
    code = PROBE.format(blocked=set(blocked), arguments=arguments)
    environment = {**os.environ, "PLANNER_TODAY": "2026-01-01"}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    status, names = json.loads(found.stderr.splitlines()[-1])
    return status, found.stdout, {name.split(".")[0] for name in names} | set(names)


def test_check_needs_no_numpy_and_no_jinja() -> None:
    """With numpy, scipy, pandas and jinja2 out of reach the gate says the same, to the byte."""
    without = run("check", SPEC, blocked=("numpy", "scipy", "pandas", "jinja2", "markupsafe"))
    status, text, _ = run("check", SPEC)
    assert without[:2] == (status, text)
    assert status == 0
    assert not without[2] & {"numpy", "jinja2"}


def test_check_does_not_import_jinja_where_it_is_installed() -> None:
    assert "jinja2" not in run("check", SPEC)[2]


@pytest.mark.parametrize("output_format", ["json", "text"])
def test_formats_of_check_import_no_jinja(output_format: str) -> None:
    assert "jinja2" not in run("check", "--format", output_format, SPEC)[2]


def test_report_needs_no_numpy() -> None:
    status, text, _ = run("report", "--stdout", SPEC, blocked=("numpy",))
    assert status == 0
    assert text == run("report", "--stdout", SPEC)[1]


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("--version",), ("chek",)])
def test_help_imports_no_pint_jinja_or_jsonschema(arguments: tuple[str, ...]) -> None:
    _, _, imported = run(*arguments)
    assert not imported & {"pint", "jinja2", "jsonschema", "numpy", "yaml"}


def test_help_imports_no_stage() -> None:
    assert not run("--help")[2] & {"planner.pipeline", "planner.evaluation", "planner.source", "planner.contract"}


def test_check_imports_no_report_and_no_analysis() -> None:
    """Sensitivity and templates belong to `planner report`."""
    assert not run("check", SPEC)[2] & {"planner.report", "planner.analysis", "planner.reporting"}
