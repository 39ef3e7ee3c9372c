"""A Calibration that a spec names: read, used where it holds, said to be stale where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.explanations import figure_text
from planner.pipeline import Judgement, judge_file
from planner.reporting import texts

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: measured}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11.2", max_model_len: 4096}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
objectives: {inter_token_latency: {mean: 100 ms}}
levers: [{use: quantize-kv-cache, format: fp8, status: consider}]
calibration: ./calibration.yaml
"""
CALIBRATION = """
apiVersion: planner/v1
kind: Calibration
metadata: {name: measured}
date: 2026-10-02
subject: {model: meta-llama/Llama-3.1-8B-Instruct, engine: vllm, version: "0.11", accelerator: h100-sxm,
          tensor_parallel_size: [1, 2], weights: bf16, cache: bf16, speculation: none}
scalars: {bandwidth: {value: 0.5, low: 0.48, high: 0.52}}
bands:
  calibrated: {latency: [0.9, 1.1], throughput: [0.92, 1.08]}
  family: {latency: [0.8, 1.25], throughput: [0.82, 1.2]}
"""


def judged(folder: Path, spec: str = SPEC, calibration: str = CALIBRATION) -> Judgement:
    (folder / "spec.yaml").write_text(spec, "utf-8")
    (folder / "calibration.yaml").write_text(calibration, "utf-8")
    return judge_file(folder / "spec.yaml", display="spec.yaml", today="2027-01-01")


def ids(judgement: Judgement) -> set[str]:
    return {finding.id for finding in judgement.findings}


def test_it_narrows_the_bands_and_moves_the_figures(tmp_path: Path) -> None:
    """Half of the bandwidth: reading takes twice as long. A considered lever is of the family alone."""
    plain = judged(tmp_path, SPEC.replace("calibration: ./calibration.yaml\n", ""))
    found = judged(tmp_path)
    assert plain.result is not None and found.result is not None
    before, after = plain.result.shipped, found.result.shipped
    assert (after.bands.word, after.bands.latency, after.bands.throughput) == ("calibrated", (0.9, 1.1), (0.92, 1.08))
    assert before.latency.decode is not None and after.latency.decode is not None
    assert 1.7 < after.latency.decode.memory_s / before.latency.decode.memory_s <= 2.0  # a slower loop decodes fewer
    considered = next(step.after for step in found.result.steps if step.lever.use == "quantize-kv-cache")
    assert considered is not None and considered.bands.word == "family"
    assert considered.bands.latency == (0.8, 1.25)
    assert "calibration-stale" not in ids(found)


def test_the_objective_is_judged_by_its_band(tmp_path: Path) -> None:
    found = judged(tmp_path)
    assert found.result is not None
    (item,) = found.result.shipped.objectives
    assert item.estimate is not None
    assert (item.low, item.high) == pytest.approx((0.9 * item.estimate, 1.1 * item.estimate))


def test_another_accelerator_is_stale(tmp_path: Path) -> None:
    found = judged(tmp_path, SPEC.replace("h100-sxm", "h200-sxm"))
    plain = judged(tmp_path, SPEC.replace("h100-sxm", "h200-sxm").replace("calibration: ./calibration.yaml\n", ""))
    (finding,) = (item for item in found.findings if item.id == "calibration-stale")
    assert "accelerator: measured 'h100-sxm', planned 'h200-sxm'" in finding.message.replace('"', "'").replace("`", "'")
    assert finding.path == "/calibration" and finding.location is not None and finding.location.line == 11
    assert found.result is not None and plain.result is not None
    assert found.result.shipped == plain.result.shipped


def test_several_sizes_were_measured(tmp_path: Path) -> None:
    two = SPEC.replace("h100-sxm}", "h100-sxm, count: 2}").replace("engine: {", "engine: {tensor_parallel_size: 2, ")
    assert "calibration-stale" not in ids(judged(tmp_path, two))
    four = two.replace("count: 2", "count: 4").replace("size: 2", "size: 4")
    (finding,) = (item for item in judged(tmp_path, four).findings if item.id == "calibration-stale")
    assert finding.values["stale"] == [{"what": "tensor parallel size", "measured": "1 or 2", "planned": "4"}]


@pytest.mark.parametrize(
    ("was", "now", "identifier"),
    [
        ("kind: Calibration", "kind: Base", "calibration-kind"),
        ("2026-10-02", "2026-02-31", "not-a-date"),
        ("value: 0.5", "value: 0.6", "not-in-order"),
        ("value: 0.5", "value: fast", "wrong-type"),
        ("bandwidth:", "bandwith:", "unknown-key"),
        ("engine: vllm", "engines: vllm", "unknown-key"),
        ("scalars:", "scalars: [", "yaml-syntax"),
    ],
)
def test_a_wrong_document_makes_the_spec_invalid(tmp_path: Path, was: str, now: str, identifier: str) -> None:
    text = CALIBRATION.replace(was, now)
    if "Base" in now:
        text = "apiVersion: planner/v1\nkind: Base\nmetadata: {name: other}\n"
    found = judged(tmp_path, calibration=text)
    assert found.plan is None and identifier in ids(found)


def test_the_report_and_explain_say_where_figures_come_from(tmp_path: Path) -> None:
    found = judged(tmp_path)
    text = texts(found, ("markdown",))["markdown"]
    assert "calibrated" in text and "measured 2026-10-02" in text
    explained = figure_text("decode_step", found)
    assert explained is not None
    row = next(line for line in explained.splitlines() if "Achieved share of bandwidth" in line)
    assert "[calibrated: ./calibration.yaml, measured 2026-10-02]" in row
    stale = texts(judged(tmp_path, SPEC.replace("h100-sxm", "h200-sxm")), ("markdown",))["markdown"]
    assert "stale and not used" in stale


def test_the_prompts_band_is_the_uncalibrated_one_where_none_was_measured(tmp_path: Path) -> None:
    plain = judged(tmp_path, SPEC.replace("calibration: ./calibration.yaml\n", ""))
    found = judged(tmp_path)
    told = judged(
        tmp_path, calibration=CALIBRATION.replace("[0.92, 1.08]}", "[0.92, 1.08], prompt: [0.75, 1.3]}")
    )  # fmt: skip
    assert plain.result is not None and found.result is not None and told.result is not None
    assert found.result.shipped.bands.prompt == plain.result.shipped.bands.prompt
    assert told.result.shipped.bands.prompt == (0.75, 1.3)
