"""planner.yaml: catalogue folders, severities, and the walls of the project."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from planner import finding_ids, schema_composer
from planner.cli import cli
from planner.findings import Severity, Verdict
from planner.pipeline import judge_file
from planner.project import project_of

CARD = """
apiVersion: planner/v1
kind: Accelerator
metadata: {name: lab-card}
accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
"""
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: own-card}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: lab-card, derate: {bandwidth: 1.0, compute: 1.0}}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
"""


def make(folder: Path, project: str) -> Path:
    project_of.cache_clear()
    (folder / "catalogue" / "accelerators").mkdir(parents=True)
    (folder / "catalogue" / "accelerators" / "lab-card.yaml").write_text(CARD)
    (folder / "planner.yaml").write_text(project)
    spec = folder / "spec.yaml"
    spec.write_text(SPEC)
    return spec


def test_a_project_names_its_own_accelerators(tmp_path: Path) -> None:
    spec = make(tmp_path, "apiVersion: planner/v1\nkind: Project\ncatalogue: [catalogue]\n")
    judgement = judge_file(spec, today="2026-01-01")
    assert judgement.verdict is Verdict.FEASIBLE, judgement.findings
    assert judgement.result is not None
    step = judgement.result.shipped.latency.decode_step_s
    assert step is not None and round(step * 1e3, 1) == 31.2  # the textbook's row


def test_a_catalogue_folder_outside_the_project_is_an_error(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    spec = make(inner, "apiVersion: planner/v1\nkind: Project\ncatalogue: [../elsewhere]\n")
    (tmp_path / "elsewhere").mkdir()
    judgement = judge_file(spec, today="2026-01-01")
    assert judgement.verdict is Verdict.INVALID


def test_severities_are_the_projects(tmp_path: Path) -> None:
    project = (
        "apiVersion: planner/v1\nkind: Project\ncatalogue: [catalogue]\nseverities: {objectives-incomplete: error}\n"
    )
    judgement = judge_file(make(tmp_path, project), today="2026-01-01")
    found = next(finding for finding in judgement.findings if finding.id == "objectives-incomplete")
    assert found.severity is Severity.ERROR


def test_a_severity_of_no_finding_names_the_nearest(tmp_path: Path) -> None:
    project = "apiVersion: planner/v1\nkind: Project\ncatalogue: [catalogue]\nseverities: {low-headroom: error}\n"
    judgement = judge_file(make(tmp_path, project), today="2026-01-01")
    (found,) = [item for item in judgement.findings if item.id == "unknown-finding"]
    assert judgement.verdict is Verdict.INVALID
    assert found.path == "/severities/low-headroom"
    assert str(found.location) == "planner.yaml:4:14"
    assert found.hint == "Did you mean `memory-headroom-low`?"


def test_a_severity_that_is_none_is_an_error_where_it_stands(tmp_path: Path) -> None:
    project = "apiVersion: planner/v1\nkind: Project\nseverities: {objective-missed: fatal}\n"
    judgement = judge_file(make(tmp_path, project), today="2026-01-01")
    found = next(item for item in judgement.findings if item.id == "not-allowed-value")
    assert "one of `error`, `warning`, `note`" in found.message
    assert str(found.location) == "planner.yaml:3:32"


def test_the_projects_own_file_is_said_once(tmp_path: Path) -> None:
    project = "apiVersion: planner/v1\nkind: Project\nseverities: {low-headroom: error}\n"
    make(tmp_path, project)
    judgement = judge_file(tmp_path / "planner.yaml", today="2026-01-01")
    assert [item.id for item in judgement.findings] == ["unknown-finding"]


def test_a_planner_yaml_of_another_kind_is_said(tmp_path: Path) -> None:
    judgement = judge_file(make(tmp_path, SPEC.replace("lab-card", "h100-sxm")), today="2026-01-01")
    assert "project-not-a-project" in [item.id for item in judgement.findings]


def test_examples_of_the_schema_name_findings_that_there_are() -> None:
    for kind in ("project", "deployment", "base"):
        for example in _examples(schema_composer.compose(kind)):
            assert example in finding_ids.known(), example


def _examples(node: Any) -> Iterator[str]:
    """Ids in the examples of `severities` and of a waiver's `finding`."""
    for key, part in node.items() if isinstance(node, dict) else ():
        if key == "severities":
            yield from (name for example in part["examples"] for name in example)
        elif key == "finding" and "examples" in part:
            yield from part["examples"]
        yield from _examples(part)


@pytest.mark.parametrize("folder", ["absolute", "../elsewhere", "a/../../elsewhere", '"a\\nb"', "link"])
def test_a_report_folder_outside_the_project_is_an_error(tmp_path: Path, folder: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (inner / "link").symlink_to(tmp_path / "elsewhere")
    folder = (tmp_path / "elsewhere").as_posix() if folder == "absolute" else folder
    spec = make(inner, f"apiVersion: planner/v1\nkind: Project\ncatalogue: [catalogue]\nreports: {folder}\n")
    judgement = judge_file(spec, today="2026-01-01")
    assert [item.id for item in judgement.findings if item.verdict is Verdict.INVALID] == ["reports-outside-project"]


def test_reports_do_not_follow_a_link_out_of_the_project(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (inner / "reports").symlink_to(tmp_path / "elsewhere")
    spec = make(inner, "apiVersion: planner/v1\nkind: Project\ncatalogue: [catalogue]\n")
    (inner / "planner.yaml").write_text("")
    (inner / ".git").mkdir()
    (inner / "planner.yaml").unlink()
    project_of.cache_clear()
    spec.write_text(SPEC.replace("lab-card", "h100-sxm"))
    result = CliRunner().invoke(cli, ["report", str(spec)], prog_name="planner")
    assert result.exit_code == 2, result.output
    assert "leads outside the project" in result.output
    assert not list((tmp_path / "elsewhere").iterdir())
