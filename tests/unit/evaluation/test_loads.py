"""Loads that have no closed form give no figure; requests without an answer are a prefill."""

from pathlib import Path

import pytest

from planner import source
from planner.pipeline import Judgement, judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: loads}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: vllm, max_model_len: 4096}
workload: {load: LOAD, classes: [{name: all, prompt_tokens: 100, output_tokens: OUTPUT}]}
"""


def judge(load: str, output: int, folder: Path) -> Judgement:
    text = SPEC.replace("LOAD", load).replace("OUTPUT", str(output))
    document, findings = source.parse(text, folder=folder)
    assert document is not None, findings
    return judge_document(document, today="2026-01-01")


def test_a_trace_is_replayed(tmp_path: Path) -> None:
    """One request: its prefill is its first token, and 99 gaps follow."""
    (tmp_path / "day.csv").write_text("arrival_s,input_tokens,output_tokens\n0,100,100\n")
    judgement = judge("{trace: day.csv}", 100, tmp_path)
    assert judgement.result is not None
    latency = judgement.result.shipped.latency
    first, gap, whole = latency.time_to_first_token_s, latency.inter_token_latency_s, latency.request_latency_s
    assert first.mean is not None and gap.mean is not None and whole.mean is not None
    assert whole.mean == pytest.approx(first.mean + 99 * gap.mean)
    assert not any(f.id == "figure-not-computed" and f.path == "/workload/load" for f in judgement.findings)


def test_a_trace_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    judgement = judge("{trace: day.csv}", 100, tmp_path)
    assert judgement.plan is None
    assert [f.id for f in judgement.findings if f.verdict is not None] == ["reference-not-found"]


def test_no_answer_is_a_prefill(tmp_path: Path) -> None:
    """Embeddings and scores write nothing."""
    judgement = judge("{concurrency: 4}", 0, tmp_path)
    assert judgement.result is not None
    assert judgement.result.shipped.throughput.output_tokens_per_s == 0.0


def test_recorded_lengths_that_are_not_there_are_not_invented() -> None:
    text = SPEC.replace("LOAD", "{concurrency: 4}").replace("prompt_tokens: 100", "prompt_tokens: {trace: x.csv}")
    document, findings = source.parse(text.replace("OUTPUT", "100"))
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is None
    assert [f.id for f in judgement.findings if f.verdict is not None] == ["reference-not-found"]


def test_one_token_has_no_time_between_tokens(tmp_path: Path) -> None:
    """Its wait is in the first token, which is the whole request."""
    judgement = judge("{concurrency: 4}", 1, tmp_path)
    assert judgement.result is not None
    shipped = judgement.result.shipped
    assert shipped.latency.inter_token_latency_s.mean is None
    assert shipped.latency.time_per_output_token_s.p95 is None
    assert shipped.throughput.output_tokens_per_s_per_user is None
    assert shipped.latency.time_to_first_token_s.mean == shipped.latency.request_latency_s.mean
    assert any(f.id == "figure-not-computed" and "one token" in f.message for f in judgement.findings)
