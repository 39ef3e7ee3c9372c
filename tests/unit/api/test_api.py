"""The Python API: documented examples run as printed, names are typed, reachable and not shadowed."""

from __future__ import annotations

import contextlib
import inspect
import io
import pkgutil
import re
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

import planner
from planner import api

ROOT = Path(__file__).parents[3]
SPEC = ROOT / "specs" / "textbook-gqa.yaml"
EXAMPLES = re.findall(
    r"^## (.+?)$.*?```python\n(.*?)```.*?```text\n(.*?)```",
    (ROOT / "docs" / "api.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize(("title", "code", "printed"), EXAMPLES, ids=[item[0] for item in EXAMPLES])
def test_documented_example_prints_what_the_page_says(
    title: str, code: str, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(code, title, "exec"), {})
    assert shown.getvalue() == printed


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert not [name for name in planner.__all__ if not name.startswith("_") and f"`{name}" not in page]


@pytest.mark.parametrize("name", planner.__all__)
def test_no_name_is_shadowed_by_a_module(name: str) -> None:
    """`import planner.report` sets `planner.report`: a function of that name would be gone after it."""
    modules = {item.name for item in pkgutil.iter_modules(planner.__path__)}
    assert name not in modules
    assert not inspect.ismodule(getattr(planner, name))


@pytest.mark.parametrize("name", [name for name in planner.__all__ if hasattr(api, name)])
def test_names_are_those_of_the_api_after_every_import(name: str) -> None:
    assert getattr(planner, name) is getattr(api, name)


@pytest.mark.parametrize("function", [item for _, item in inspect.getmembers(api, inspect.isfunction)])
def test_functions_are_annotated(function: object) -> None:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(item.annotation is not inspect.Parameter.empty for item in signature.parameters.values())


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chek_spec'"):
        planner.chek_spec  # noqa: B018


def test_importing_planner_imports_nothing_else() -> None:
    code = "import sys, planner; print([name for name in sys.modules if name.startswith('planner.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_load_spec_gives_the_document_with_positions() -> None:
    document, findings = planner.load_spec(SPEC)
    assert document is not None
    assert findings == ()
    assert document.data["metadata"]["name"] == "textbook-gqa"
    line = document.location(("metadata", "name")).line
    assert SPEC.read_text("utf-8").splitlines()[line - 1].strip() == "name: textbook-gqa"


def test_a_missing_file_is_a_finding() -> None:
    document, findings = planner.load_spec("specs/no-such.yaml")
    assert document is None
    assert [item.id for item in findings] == ["file-not-found"]


def test_text_and_file_are_judged_alike() -> None:
    from_file = planner.check_spec(SPEC)
    from_text = planner.check_text(SPEC.read_text("utf-8"), name=SPEC.as_posix(), folder=SPEC.parent)
    assert from_text.findings == from_file.findings
    assert planner.render_findings([from_text]) == planner.render_findings([from_file])


def test_a_waiver_is_judged_by_the_date_given() -> None:
    waived = SPEC.read_text("utf-8") + (
        "waivers:\n"
        "  - {finding: objectives-incomplete, path: /objectives, reason: A textbook figure., expires: 2030-01-31}\n"
    )
    before = planner.check_text(waived, today=date(2030, 1, 31), folder=SPEC.parent)
    after = planner.check_text(waived, today=date(2030, 2, 1), folder=SPEC.parent)
    assert "waiver-expired" not in {item.id for item in before.findings}
    assert "waiver-expired" in {item.id for item in after.findings}


def test_a_spec_without_a_plan_has_no_report() -> None:
    with pytest.raises(ValueError, match="no report"):
        planner.render_report(planner.check_text("apiVersion: planner/v1\nkind: Deployment\n"))


def test_unknown_formats_name_the_known_ones() -> None:
    judgement = planner.check_spec(SPEC)
    with pytest.raises(ValueError, match="markdown or html"):
        planner.render_report(judgement, "pdf")
    with pytest.raises(ValueError, match="json"):
        planner.render_findings([judgement], "xml")


WAIVED = """
waivers: [{finding: evidence-missing, path: /levers/quantize-weights, reason: pilot, expires: 2026-06-30}]
levers: [{use: quantize-weights, format: int8}]
"""


def test_a_waiver_holds_to_the_end_of_its_last_day() -> None:
    text = (ROOT / "specs" / "textbook-base.yaml").read_text(encoding="utf-8").replace("kind: Base", "kind: Deployment")
    spec = f"{text}\nmetadata: {{name: waived}}\n{WAIVED}"
    evening = planner.check_text(spec, today=datetime(2026, 6, 30, 23, 59))
    morning = planner.check_text(spec, today=datetime(2026, 7, 1, 0, 1))
    assert "waiver-expired" not in [item.id for item in evening.findings]
    assert "waiver-expired" in [item.id for item in morning.findings]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sets": "/engine/max_model_len=1"}, "a list of assignments"),
        ({"today": "2026-01-01"}, "a datetime.date, not str"),
    ],
)
def test_wrong_calls_say_what_is_wanted(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        planner.check_text("a: 1", **arguments)
    with pytest.raises(TypeError, match="text is a str, not int"):
        planner.check_text(1)  # type: ignore[arg-type]
