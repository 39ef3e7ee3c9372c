"""A load whose cache is more than there is: what is held of it is said, and what never runs together is at risk."""

from __future__ import annotations

import re

import pytest

from planner import output, source
from planner.findings import Verdict
from planner.pipeline import Judgement, judge_document
from planner.reporting import texts

# 2 x 8 heads x 128 x 2 bytes x 32 layers = 131,072 bytes a token. Promised: 4,000 + 1,000 tokens at most, 0.66 GB;
# on average 1,000 + 250, 0.16 GB. The pool of a 40 GB card beside 14 GB of weights is near 20 GB.
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: crowded}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 40 GB, bandwidth: 2 TB/s, compute: {fp16: 300 TFLOP/s}}}
engine: {name: vllm, max_model_len: 8192, max_num_seqs: 1024}
workload:
  load: {concurrency: N}
  classes: [{name: all, prompt_tokens: {mean: 1000, max: 4000}, output_tokens: {mean: 250, max: 1000}}]
objectives: {inter_token_latency: {mean: 10 s}}
"""


def judged(sequences: int) -> Judgement:
    document, findings = source.parse(SPEC.replace("N}", f"{sequences}}}"))
    assert document is not None, findings
    return judge_document(document, today="2026-01-01")


@pytest.mark.parametrize(
    ("sequences", "verdict"), [(8, Verdict.FEASIBLE), (60, Verdict.FEASIBLE), (700, Verdict.AT_RISK)]
)
def test_more_sequences_never_look_better(sequences: int, verdict: Verdict) -> None:
    assert judged(sequences).verdict is verdict


@pytest.mark.parametrize("sequences", [60, 700])
def test_what_is_held_is_said_in_place_of_fits(sequences: int) -> None:
    judgement = judged(sequences)
    assert judgement.result is not None
    guaranteed = int(judgement.result.shipped.memory.max_concurrency or 0)
    assert guaranteed < sequences
    text = output.render("text", [judgement], output.Options())
    (line,) = (line for line in text.splitlines() if line.startswith("    memory"))
    said = f"{guaranteed} of the {sequences} sequences together at the promised length (guaranteed)"
    assert line.startswith("    memory      starts: ") and said in line
    for report in texts(judgement, ("markdown", "html")).values():
        assert "starts on" in report and said in report
        assert "crowded fits" not in report
        assert not re.search(r"-\d[\d.]* % of usable memory", report)
        assert "none at the promised length" in report


def test_a_load_that_is_held_whole_fits() -> None:
    assert "memory      fits: " in output.render("text", [judged(8)], output.Options())
