"""Loads that fix no number of sequences have an expected cache, called so; nothing that is promised rests on it."""

import pytest

from planner import source
from planner.domain.evaluation import Memory, PlanResult
from planner.pipeline import judge_document

# 2 x 32 layers x 8 heads x 128 x 2 bytes = 131,072 bytes of cache a token, in blocks of 16.
TOKEN = 131_072
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: expected}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {fp16: 300 TFLOP/s}}}
engine: {name: vllm, version: "0.11", max_model_len: 4096, max_num_seqs: 8}
workload: {load: LOAD, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
"""


def result(load: str, spec: str = SPEC) -> PlanResult:
    document, findings = source.parse(spec.replace("LOAD", load))
    assert document is not None, findings
    found = judge_document(document, today="2026-01-01").result
    assert found is not None
    return found


def memory(load: str, spec: str = SPEC) -> Memory:
    return result(load, spec).shipped.memory


def test_an_endless_queue_fills_the_seats() -> None:
    """8 seats, each 1,000 + 200 / 2 = 1,100 tokens on average: 69 blocks of 16, 1,104 tokens."""
    found = memory("{offline: true}")
    assert found.cache_basis == "expected"
    assert found.kv_cache_bytes == pytest.approx(8 * 1104 * TOKEN, rel=1e-3)
    taken = found.weights_bytes + found.activation_bytes + found.cuda_graph_bytes + found.runtime_bytes
    assert found.free_bytes == pytest.approx(found.usable_bytes - taken - 8 * 1104 * TOKEN, rel=1e-3)


def test_arrivals_hold_what_little_says() -> None:
    """L = rate x time in the system (Little 1961)."""
    found = result("{rate: 1 request/s}").shipped
    inside = found.latency.request_latency_s.mean
    assert inside is not None
    assert found.memory.cache_basis == "expected"
    assert found.memory.kv_cache_bytes == pytest.approx(inside * 1104 * TOKEN, rel=1e-3)


def test_more_than_the_pool_is_never_expected() -> None:
    crowded = SPEC.replace("max_num_seqs: 8", "max_num_seqs: 4096")
    found = memory("{offline: true}", crowded)
    assert found.fits
    assert found.kv_cache_bytes is not None
    assert found.kv_cache_bytes <= found.kv_pool_bytes


def test_a_closed_loop_is_guaranteed_at_its_promised_length() -> None:
    """4 sequences of 1,200 tokens: 75 blocks of 16."""
    found = memory("{concurrency: 4}")
    assert found.cache_basis == "guaranteed"
    assert found.kv_cache_bytes == pytest.approx(4 * 1200 * TOKEN, rel=1e-3)
