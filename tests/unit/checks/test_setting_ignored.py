"""Settings that are said to change nothing change no figure; and the others do."""

from __future__ import annotations

import json

import pytest

from planner import engines, source
from planner.checks.setting_ignored import IGNORED
from planner.findings import Severity, Verdict
from planner.output.json import result_of
from planner.pipeline import Judgement, judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: settings}
model: {ref: Qwen/Qwen2.5-VL-7B-Instruct}
hardware: {accelerator: h100-sxm, count: 1}
engine: {name: ENGINE, max_model_len: 8192, max_num_seqs: 64MORE}
workload:
  load: {concurrency: 32}
  classes: [{name: all, prompt_tokens: 3000, output_tokens: 300}]
"""
VALUES = {
    "max_num_batched_tokens": "1024",
    "block_size": "48",
    "num_gpu_blocks_override": "5000",
    "max_loras": "4, max_lora_rank: 64",
    "max_lora_rank": "64, max_loras: 4",
    "limit_mm_per_prompt": "{image: 2}",
    "mm_processor_kwargs": "{max_pixels: 100000}",
}


def judge(engine: str, more: str = "") -> Judgement:
    document, problems = source.parse(SPEC.replace("ENGINE", engine).replace("MORE", more))
    assert document is not None, problems
    return judge_document(document, today="2026-01-01")


def shipped(judgement: Judgement) -> str:
    return json.dumps(result_of(judgement)["shipped"], sort_keys=True)


@pytest.mark.parametrize("engine", engines.names())
@pytest.mark.parametrize("key", VALUES)
def test_what_is_ignored_changes_no_figure(engine: str, key: str) -> None:
    with_key = judge(engine, f", {key}: {VALUES[key]}")
    said = [item for item in with_key.findings if item.id == "setting-ignored" and item.path == f"/engine/{key}"]
    assert bool(said) is (key in IGNORED.get(engine, ()))
    if said:
        assert said[0].severity is Severity.WARNING
        assert shipped(with_key) == shipped(judge(engine))


def test_images_of_a_text_model() -> None:
    text = SPEC.replace("Qwen/Qwen2.5-VL-7B-Instruct", "meta-llama/Llama-3.1-8B-Instruct")
    document, _ = source.parse(text.replace("ENGINE", "vllm").replace("MORE", ", limit_mm_per_prompt: {image: 2}"))
    assert document is not None
    found = [item.message for item in judge_document(document, today="2026-01-01").findings]
    assert any("takes text alone" in message for message in found)


def test_llama_cpp_has_no_more_ranks_than_cards() -> None:
    judgement = judge("llama-cpp", ", tensor_parallel_size: 4")
    assert judgement.verdict is Verdict.INFEASIBLE
    assert "engine-world-size" in [item.id for item in judgement.findings]
