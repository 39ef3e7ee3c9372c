"""A name of no engine does not hide keys that no engine has; keys of some engine stay unjudged."""

from __future__ import annotations

from planner import source
from planner.contract import validate

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: a}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: vlm, max_modl_len: 8192, gpu_memory_utilization: 0.9}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
"""


def test_both_are_reported() -> None:
    document, findings = source.parse(SPEC)
    assert document is not None, findings
    found = {(item.id, item.path) for item in validate(document)}
    assert found == {("unknown-engine", "/engine/name"), ("unknown-key", "/engine/max_modl_len")}
