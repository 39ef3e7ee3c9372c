"""The nearest share that starts is found by bisection: the same as trying every hundredth, nearest first."""

from __future__ import annotations

import json

import pytest

from planner import source
from planner.evaluation.configure import shipped
from planner.evaluation.setting_ways import HIGHEST_PERCENT, setting_ways
from planner.evaluation.starting import ledger
from planner.pipeline import judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {{name: refused}}
model: {{ref: meta-llama/Llama-3.1-8B-Instruct}}
hardware: {{accelerator: l4, count: 1}}
engine: {engine}
workload: {{load: {{concurrency: 2}}, classes: [{{name: all, prompt_tokens: 500, output_tokens: 500}}]}}
"""
ENGINES = (
    # 15 GiB of weights in 22.5 GiB: a half of it holds no weights, 0.99 of it leaves nothing beside it.
    "{name: vllm, version: '0.11', max_model_len: 4096, gpu_memory_utilization: 0.5}",
    "{name: vllm, version: '0.11', max_model_len: 4096, gpu_memory_utilization: 0.99}",
    "{name: vllm, version: '0.11', max_model_len: 32768, gpu_memory_utilization: 0.855}",
    "{name: sglang, version: '0.5', max_model_len: 8192, mem_fraction_static: 0.6}",
    "{name: sglang, version: '0.5', max_model_len: 65536, mem_fraction_static: 0.9}",
    "{name: tensorrt-llm, version: '1.0', max_model_len: 16384, free_gpu_memory_fraction: 0.1}",
)


@pytest.mark.parametrize("engine", ENGINES)
def test_as_if_every_hundredth_were_tried(engine: str) -> None:
    document, findings = source.parse(SPEC.format(engine=engine))
    assert document is not None, findings
    bound = judge_document(document, today="2026-01-01").plan
    assert bound is not None
    plan = shipped(bound)
    declared = plan.engine.memory_fraction
    assert declared is not None

    def starts(percent: int) -> bool:
        memory = ledger(plan, memory_fraction=percent / 100).memory
        return memory.fits and memory.headroom_bytes >= 0

    nearest_first = sorted(range(1, HIGHEST_PERCENT + 1), key=lambda percent: (abs(percent / 100 - declared), percent))
    expected = next((percent / 100 for percent in nearest_first if starts(percent)), None)
    found = [changed["memory_fraction"] for _, changed in setting_ways(plan) if "memory_fraction" in changed]
    assert found == ([] if expected is None else [expected])


UNDECLARED = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: refused}
model: {ref: openai/gpt-oss-120b}
hardware: {accelerator: h100-sxm, count: 1}
engine: {name: vllm, version: "0.11"}
workload: {load: {concurrency: 8}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
"""


def test_a_shorter_context_together_with_one_setting() -> None:
    """The recipe of one H100: a context that is needed, and more of the card."""
    document, _ = source.parse(UNDECLARED)
    assert document is not None
    refused = judge_document(document, today="2026-01-01")
    assert refused.plan is not None
    ways = list(setting_ways(shipped(refused.plan)))
    assert ways
    assert all(changed["max_model_len"] == 1200 for _, changed in ways)
    assert "max_model_len of 1,200, as long as the longest request, and gpu_memory_utilization of 0." in ways[0][0]
    for _, changed in ways:
        settings = {"gpu_memory_utilization" if key == "memory_fraction" else key: changed[key] for key in changed}
        fresh, _ = source.parse(UNDECLARED)
        assert fresh is not None
        fresh, _ = source.set_values(fresh, [f"/engine/{key}={json.dumps(value)}" for key, value in settings.items()])
        found = judge_document(fresh, today="2026-01-01").findings
        assert not any(item.id == "memory-does-not-fit" for item in found)
