"""Acceptance from the catalogue: each table as it was published, found by model, method and task."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from planner import bind, catalogue, source
from planner.domain.plan import Plan
from planner.evaluation.configure import shipped
from planner.findings import Finding

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "speculation" / "acceptance_length.csv"
MODES = {"thinking_on": "thinking", "thinking_off": "plain"}
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: drafted}
model: {ref: MODEL}
hardware: {accelerator: b300-sxm, count: 8}
engine: {name: vllm, version: "0.19", tensor_parallel_size: 8, max_model_len: 16384}
workload: {load: {concurrency: 8}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 500}]}
levers:
  - use: speculative-decoding
    method: METHOD
    num_speculative_tokens: COUNT
    measured_acceptance: {task: coding}
"""


def bound(model: str, method: str, count: int, more: str = "") -> tuple[Plan | None, tuple[Finding, ...]]:
    text = SPEC.replace("MODEL", model).replace("METHOD", method).replace("COUNT", str(count))
    document, findings = source.parse(text.replace("{task: coding", "{task: coding" + more))
    assert document is not None, findings
    return bind.plan(document)


def tokens(model: str, method: str, count: int, more: str = "") -> float:
    plan, findings = bound(model, method, count, more)
    assert plan is not None, findings
    speculation = shipped(plan).techniques.speculation
    assert speculation is not None
    return speculation.tokens_per_step


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published table is not beside this repository")
def test_every_table_is_as_published() -> None:
    with PUBLISHED.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    held = {str(entry["file"]): entry for name in catalogue.names("acceptance")
            if (entry := catalogue.entry("acceptance", name)) is not None}  # fmt: skip
    assert len(rows) == 112 and {row["method_file"] for row in rows} == set(held)
    for row in rows:
        entry = held[row["method_file"]]
        lengths = entry["lengths"][MODES[row["mode"]]]
        assert lengths[int(row["num_speculative_tokens"]) - 1] == float(row["mean_acceptance_length"]), row
        assert entry["target"] == row["model"] and entry["licence"] == "Apache-2.0"


def test_the_number_of_proposals_chooses_the_figure() -> None:
    """DeepSeek-V4-Pro, coding: 1.79, 2.27, 2.49, 2.54 thinking; 1.92, 2.61, 2.97, 3.0 plain."""
    model = "deepseek-ai/DeepSeek-V4-Pro"
    assert tokens(model, "mtp", 3, ", mode: thinking") == 2.49
    assert tokens(model, "mtp", 1, ", mode: thinking") == 1.79
    assert tokens(model, "mtp", 3) == 2.97


def test_a_quantised_checkpoint_of_the_model_has_its_table() -> None:
    """Measured of kimi-k2.5-nvfp4: 2.88 at three proposals, thinking."""
    assert tokens("moonshotai/Kimi-K2.5", "eagle3", 3, ", mode: thinking") == 2.88


def test_the_report_says_whose_figure_it_is() -> None:
    plan, _ = bound("deepseek-ai/DeepSeek-V4-Pro", "mtp", 2)
    assert plan is not None
    assert any("2.61 tokens a step at 2 proposals, measured on coding prompts" in item
               for item in shipped(plan).assumptions)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "method", "count", "more", "says"),
    [
        ("deepseek-ai/DeepSeek-V4-Pro", "mtp", 9, "", "up to 8 proposed tokens"),
        ("deepseek-ai/DeepSeek-V4-Pro", "eagle3", 3, "", "no acceptance was measured of this model with eagle3"),
        ("meta-llama/Llama-3.1-8B-Instruct", "eagle3", 3, "", "no acceptance was measured of this model"),
        ("deepseek-ai/DeepSeek-V4-Pro", "mtp", 3, ", drafter: other", "no acceptance was measured of this model"),
    ],
)
def test_what_was_not_measured_is_not_assumed(model: str, method: str, count: int, more: str, says: str) -> None:
    plan, findings = bound(model, method, count, more)
    assert plan is None
    assert any(says in item.message and item.path.endswith("measured_acceptance") for item in findings), findings
