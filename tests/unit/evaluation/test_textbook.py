"""The textbook's own numbers, from specs of the ideal engine: expected values are the textbook's, or sums by hand."""

from typing import Any

import pytest

from planner import source
from planner.output.json import result_of
from planner.pipeline import judge_document

GB = 1e9
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {{name: textbook}}
model:
  architecture: {{parameters: {parameters}, layers: {layers}, attention: {{kv_heads: {kv_heads}, head_dim: 128}}}}
  weights: {weights}
hardware:
  accelerator: {{memory: {memory}, bandwidth: {bandwidth}, compute: {{fp16: 40 TFLOP/s}}}}
  derate: {{bandwidth: 1.0, compute: 1.0}}
engine: {{name: ideal, kv_cache_dtype: {cache}}}
workload:
  load: {{concurrency: {concurrency}}}
  classes: [{{name: all, context_tokens: {context}}}]
"""
DEFAULTS = {
    "parameters": "7e9", "layers": 32, "kv_heads": 8, "weights": "fp16", "cache": "fp16", "memory": "80 GB",
    "bandwidth": "1 TB/s", "concurrency": 16, "context": 8192,
}  # fmt: skip


def result(**values: Any) -> dict[str, Any]:
    document, findings = source.parse(SPEC.format(**{**DEFAULTS, **values}))
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    return result_of(judgement)


# weights, KV heads, cache, sequences -> GB needed, ms a step, tokens/s of one user and of all; None: does not fit.
TABLE = [
    ("fp16", 32, "fp16", 16, 82.7, None, None, None),
    ("fp16", 8, "fp16", 16, 31.2, 31.2, 32.1, 513),
    ("int8", 8, "int8", 16, 15.6, 15.6, 64.1, 1026),
    ("int4", 8, "int8", 16, 12.1, 12.1, 82.7, 1323),
    ("fp16", 8, "fp16", 64, 82.7, None, None, None),
    ("fp16", 8, "fp16", 1, 15.1, 15.1, 66.3, 66),
]


@pytest.mark.parametrize(("weights", "kv_heads", "cache", "sequences", "needed", "step", "user", "total"), TABLE)
def test_the_six_rows(
    weights: str,
    kv_heads: int,
    cache: str,
    sequences: int,
    needed: float,
    step: float | None,
    user: float | None,
    total: int | None,
) -> None:
    found = result(weights=weights, kv_heads=kv_heads, cache=cache, concurrency=sequences)["shipped"]
    memory = found["memory"]
    assert round((memory["weights_bytes"] + memory["kv_cache_bytes"]) / GB, 1) == needed
    assert memory["fits"] is (step is not None)
    if step is not None:
        assert round(found["latency"]["decode_step_s"] * 1e3, 1) == step
        assert round(found["throughput"]["output_tokens_per_s_per_user"], 1) == user
        assert round(found["throughput"]["output_tokens_per_s"]) == total


def test_seven_billion_in_sixteen_bits() -> None:
    memory = result()["shipped"]["memory"]
    assert memory["weights_bytes"] == 14 * GB
    assert round(memory["weights_bytes"] / 2**30, 2) == 13.04


def test_cache_of_a_token_of_a_sequence_and_of_sixteen() -> None:
    # 2 x 32 layers x 8 heads x 128 x 2 bytes = 131,072; x 4096 = 512 MiB; x 16 = 8 GiB.
    assert result()["model"]["kv_bytes_per_token"] == 131_072
    assert result(concurrency=1, context=4096)["shipped"]["memory"]["kv_cache_bytes"] == 512 * 2**20
    assert result(concurrency=16, context=4096)["shipped"]["memory"]["kv_cache_bytes"] == 8 * 2**30


def test_reading_fourteen_gigabytes() -> None:
    # 14 GB / 700 GB/s = 20 ms, and one cached token of 131,072 bytes: 0.19 us.
    step = result(bandwidth="700 GB/s", concurrency=1, context=1)["shipped"]["latency"]["decode_step_s"]
    assert round(step * 1e3, 3) == 20.0


def test_thirteen_billion_at_two_terabytes() -> None:
    # 13e9 x 2 / 2e12 = 13 ms = 77 tokens/s (76.9).
    found = result(parameters="13e9", layers=40, bandwidth="2 TB/s", concurrency=1, context=1)["shipped"]
    assert round(found["latency"]["decode_step_s"] * 1e3, 1) == 13.0
    assert round(found["throughput"]["output_tokens_per_s_per_user"]) == 77


def test_sixteen_gibibytes_with_eight_taken() -> None:
    # 4 GiB of weights; 2 + 2 GiB reserved; 8 GiB left = sixteen caches of 512 MiB (4096 tokens of 131,072 bytes).
    spec = SPEC.format(**{**DEFAULTS, "parameters": str(2**31), "memory": "16 GiB", "context": 4096, "concurrency": 1})
    document, _ = source.parse(spec.replace("  derate:", "  reserved: 4 GiB\n  derate:"))
    assert document is not None
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.result is not None
    assert judgement.result.largest_concurrency == 16


def test_first_lever_named_is_on_the_cache() -> None:
    # 13 GB of weights (6.5e9 x 2) and 40 GB of cache do not fit 48 GB.
    # cache: 40 layers x 8 heads x 128 x 2 x 2 = 163,840 bytes a token; 244,141 tokens = 40.0 GB.
    values = {"parameters": "6.5e9", "layers": 40, "memory": "48 GB", "concurrency": 1, "context": 244_141}
    found = result(**values)
    memory = found["shipped"]["memory"]
    assert round(memory["weights_bytes"] / GB) == 13
    assert round(memory["kv_cache_bytes"] / GB) == 40
    assert found["verdict"] == "infeasible"
    finding = next(item for item in found["findings"] if item["id"] == "memory-does-not-fit")
    assert finding["hint"].startswith("Any one of these fits: quantize-kv-cache")
