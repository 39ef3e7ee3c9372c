"""`measurements:` of a spec: beside the estimates in the report, stale where they are of something else."""

from __future__ import annotations

from pathlib import Path

from planner.pipeline import Judgement, judge_file
from planner.reporting import texts

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: measured}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11", max_model_len: 4096}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
measurements: [./measured.yaml]
"""
MEASURED = """
apiVersion: planner/v1
kind: Measurement
metadata: {name: by-hand}
date: 2026-10-02
source: vllm bench serve, by hand
subject: {engine: vllm, version: "0.11.2", accelerator: h100-sxm}
runs: [{load: {concurrency: 2}, prompt_tokens: 1000, output_tokens: 200, inter_token_latency: {mean: GAP}}]
"""


def judged(folder: Path, gap: str, spec: str = SPEC) -> Judgement:
    (folder / "spec.yaml").write_text(spec, "utf-8")
    (folder / "measured.yaml").write_text(MEASURED.replace("GAP", gap), "utf-8")
    return judge_file(folder / "spec.yaml", display="spec.yaml", today="2027-01-01")


def ids(judgement: Judgement) -> set[str]:
    return {finding.id for finding in judgement.findings}


def test_near_the_estimate(tmp_path: Path) -> None:
    """16 GB over 3.35 TB/s at nine tenths is 5.3 ms; kernels and the host make it about 7."""
    found = judged(tmp_path, "7.3 ms")
    assert not ids(found) & {"measurement-stale", "measurement-outside-band"}
    text = texts(found, ("markdown",))["markdown"]
    row = next(line for line in text.splitlines() if "Measured inter_token_latency.mean" in line)
    assert "7.300 ms" in row and "estimate" in row and "measured" in row


def test_far_from_it(tmp_path: Path) -> None:
    found = judged(tmp_path, "40 ms")
    (finding,) = (item for item in found.findings if item.id == "measurement-outside-band")
    assert "40.00 ms" in finding.message and finding.values["measured"] == 0.04


def test_of_something_else(tmp_path: Path) -> None:
    found = judged(tmp_path, "7.3 ms", SPEC.replace("h100-sxm", "h200-sxm"))
    (finding,) = (item for item in found.findings if item.id == "measurement-stale")
    assert "measured h100-sxm, planned h200-sxm" in finding.message


def test_faster_than_the_card_can_be(tmp_path: Path) -> None:
    found = judged(tmp_path, "2 ms")
    (finding,) = (item for item in found.findings if item.id == "measurement-stale")
    assert "above the physical ceiling" in finding.message


def test_a_file_that_cannot_be_read_makes_the_spec_invalid(tmp_path: Path) -> None:
    found = judged(tmp_path, "7.3 hours of ms")
    assert found.plan is None and "unit-error" in ids(found)
    (tmp_path / "spec.yaml").write_text(SPEC.replace("measured.yaml", "none.json"), "utf-8")
    missing = judge_file(tmp_path / "spec.yaml", display="spec.yaml", today="2027-01-01")
    assert "reference-not-found" in ids(missing)


def test_a_start_up_log_stands_beside_the_memory_account(tmp_path: Path) -> None:
    """Weights as logged, and how far the account is from them; the log's own context length is said."""
    log = (
        "Model loading took 14.99 GiB memory and 4.2 seconds\n"
        "GPU KV cache size: 419,424 tokens, Maximum concurrency for 8,192 tokens per request: 51.20x\n"
    )
    (tmp_path / "start.log").write_text(log, "utf-8")
    found = judged(tmp_path, "7.3 ms", SPEC.replace("[./measured.yaml]", "[./start.log]"))
    text = texts(found, ("markdown",))["markdown"]
    weights = next(line for line in text.splitlines() if "Logged weights on an accelerator" in line)
    tokens = next(line for line in text.splitlines() if "Logged tokens of the cache" in line)
    assert "15.0 GiB" in weights and "estimate" in weights
    assert "419,424" in tokens and "started with max_model_len 8,192" in tokens
