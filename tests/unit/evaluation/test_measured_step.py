"""The measured step never falls below the floor of what it reads."""

import pytest

from planner import source
from planner.pipeline import judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: measured}
model: {architecture: {parameters: 7e9, layers: 32, attention: ATTENTION}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ENGINE, max_model_len: 8192}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
"""


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
@pytest.mark.parametrize("heads", ["", "heads: 32, "])
def test_the_cache_is_read_with_and_without_known_heads(engine: str, heads: str) -> None:
    attention = f"{{{heads}kv_heads: 8, head_dim: 128}}"
    document, findings = source.parse(SPEC.replace("ATTENTION", attention).replace("ENGINE", engine))
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.result is not None, judgement.findings
    # 14 GB of weights and 16 x 8192 x 131,072 bytes = 17.18 GB of cache at 1 TB/s: 31.18 ms before any overhead.
    step = judgement.result.shipped.latency.decode_step_s
    assert step is not None
    assert step > 14e-3 + 16.5e-3
