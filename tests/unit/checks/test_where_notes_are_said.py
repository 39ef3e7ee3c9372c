"""Notes that could stand on nearly every plan are said where they tell something."""

from __future__ import annotations

import pytest

from planner import source
from planner.findings import Severity
from planner.pipeline import judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: notes}
model: {ref: MODEL}
hardware: {accelerator: CARD, count: 1}
engine: {name: vllm, version: "0.11", max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
OBJECTIVES
"""


def said(identifier: str, model: str, card: str, objectives: str = "") -> list[Severity]:
    text = SPEC.replace("MODEL", model).replace("CARD", card).replace("OBJECTIVES", objectives)
    document, problems = source.parse(text)
    assert document is not None, problems
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.result is not None, judgement.findings
    return [item.severity for item in judgement.findings if item.id == identifier]


@pytest.mark.parametrize(
    ("card", "objectives", "expected"),
    [
        ("h100-sxm", "", 0),
        ("h100-sxm", "objectives: {inter_token_latency: {mean: 1 s}}", 0),
        ("h100-sxm", "objectives: {inter_token_latency: {mean: 1 ms}}", 1),
        ("h100-sxm", "objectives: {output_tokens_per_second_per_user: {min: 10000 token/s}}", 1),
        ("dgx-spark-gb10", "", 1),  # memory that the host shares: 273 GB/s
    ],
)
def test_the_ceiling_of_a_stream(card: str, objectives: str, expected: int) -> None:
    found = said("decode-ceiling", "meta-llama/Llama-3.1-8B-Instruct", card, objectives)
    assert len(found) == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        # Tables and head: 2 x 128,256 x 4096 of 8.03e9 parameters, 2.1 GB in 16 bits beside 6.98e9 x 0.52 bytes: 1.36
        # times what all of it would be.
        ("awq-int4", [Severity.NOTE]),
        # The same tables beside 6.98e9 bytes: 1.13 times.
        ("fp8", []),
        # A mixture of 4 to 6 bits is what the name means.
        ("q4_k_m", []),
        ("published", []),
    ],
)
def test_a_quantised_model_above_its_name(weights: str, expected: list[Severity]) -> None:
    model = f"meta-llama/Llama-3.1-8B-Instruct, weights: {weights}"
    assert said("quantised-size-above-nominal", model, "h100-sxm") == expected


def test_tables_count_little_in_a_large_model() -> None:
    model = "meta-llama/Llama-3.1-70B-Instruct, weights: awq-int4"
    assert said("quantised-size-above-nominal", model, "b200-sxm") == []
