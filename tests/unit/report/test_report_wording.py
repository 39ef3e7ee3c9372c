"""Words of the report that a reviewer must not have to guess: names, limits, evidence, cells that are empty."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planner import source
from planner.analysis import analyse
from planner.pipeline import judge_document
from planner.report import build, render_markdown

REPORTS = sorted(path for path in (Path(__file__).parents[3] / "reports").glob("*.md") if path.stem != "index")
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: words}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {fp16: 300 TFLOP/s}}, count: COUNT}
engine: {name: vllm, version: "0.11", max_model_len: 2048, max_num_seqs: 8, tensor_parallel_size: COUNT}
workload: {load: {concurrency: 4}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
levers: [{use: quantize-weights, format: fp8, status: consider}]
"""


def report(count: int = 1) -> str:
    document, findings = source.parse(SPEC.replace("COUNT", str(count)))
    assert document is not None, findings
    found = judge_document(document, today="2026-01-01")
    assert found.plan is not None
    assert found.result is not None
    analysis = analyse(found.plan, found.result)
    return render_markdown(build(document, found.plan, found.result, found.findings, found.verdict, analysis))


def cells(text: str, start: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_figures_stand_in_for_a_name_that_the_spec_does_not_give() -> None:
    assert "- Hardware: 1 inline accelerator (80.0 GB, 2.00 TB/s)\n" in report()
    assert "- Hardware: 2 inline accelerators (80.0 GB, 2.00 TB/s)\n" in report(2)
    assert "- Model: inline architecture, 7.00e9 parameters" in report()


def test_what_the_engine_does_not_admit_says_so() -> None:
    """14 GB of 80: far more than 8 sequences of 2,048 tokens fit, and cache reads take over beyond both."""
    text = report()
    assert "beyond the limit of 8, max_num_seqs" in cells(text, "Largest concurrency")[2]
    assert "beyond the limit of 2,048, max_model_len" in cells(text, "Largest context")[2]
    assert "beyond the limit of 2,048, max_model_len" in cells(text, "Context at which cache reads")[1]


def test_the_baseline_has_its_own_largest_load() -> None:
    for title in ("Largest concurrency", "Largest context"):
        assert re.match(r"[\d,]+ (sequences|tokens)", cells(report(), title)[1])


def test_missing_evidence_is_said_in_words() -> None:
    remark = cells(report(), "quantize-weights | considered | 6")[-1]
    assert remark.startswith("Needs evaluation of the deployment's own tasks against the published weights")
    assert remark.endswith("No evidence document is given.")


@pytest.mark.parametrize("file", REPORTS, ids=[file.stem for file in REPORTS])
def test_committed_reports_leave_nothing_to_guess(file: Path) -> None:
    text = file.read_text("utf-8")
    for unclear in ("none named", "(evidence ", "1 x declared", "Model: declared", " 1 sequences", "the 1 objectives"):
        assert unclear not in text
    for start in ("Largest concurrency", "Largest context"):
        assert all(cells(text, start)[:3])
