"""What a spec declares beside lengths stands in the report: what happens after a missed deadline, and images."""

from __future__ import annotations

import pytest

from planner import source
from planner.pipeline import judge_document
from planner.reporting import texts

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: arm}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {fp16: 300 TFLOP/s}}}
engine: {name: ideal}
workload:
  load: {concurrency: 1}
  classes: [{name: look, prompt_tokens: 30, output_tokens: 7, images: {count: COUNT, tokens: 256}}]
objectives: {deadline: {max: 200 ms, fallback: hold-position}}
"""


@pytest.mark.parametrize(("count", "said"), [(1, "1 image of 256 tokens"), (3, "3 images of 256 tokens each")])
def test_fallback_and_images_are_in_both_formats(count: int, said: str) -> None:
    document, findings = source.parse(SPEC.replace("COUNT", str(count)))
    assert document is not None, findings
    for report in texts(judge_document(document, today="2026-01-01"), ("markdown", "html")).values():
        assert f"prompt 30 tokens and {said}, output 7 tokens" in report
        assert "200 ms; when it is missed: hold-position" in report
