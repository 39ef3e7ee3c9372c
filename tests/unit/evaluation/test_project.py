"""planner.yaml: catalogue folders, severities, and the walls of the project."""

from pathlib import Path

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
