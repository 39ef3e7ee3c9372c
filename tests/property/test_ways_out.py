"""What a refused spec is told would fit, written back into it, fits: four engines; dense, MoE, MLA and hybrid."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from planner import source
from planner.findings import Finding
from planner.pipeline import judge_document

MODELS = (
    "meta-llama/Llama-3.1-8B-Instruct",
    "Qwen/Qwen3-30B-A3B",
    "deepseek-ai/DeepSeek-V2-Lite",
    "Qwen/Qwen3.5-27B",
)
ENGINES = {
    "vllm": "gpu_memory_utilization",
    "sglang": "mem_fraction_static",
    "tensorrt-llm": "free_gpu_memory_fraction",
    "llama-cpp": None,
}
MANY = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def spec(engine: str, card: str, model: str, length: int, concurrency: int, **keys: Any) -> str:
    ranks = keys.get("tensor_parallel_size", 1) * keys.get("pipeline_parallel_size", 1)
    said = "".join(f", {key}: {str(value).lower()}" for key, value in keys.items())
    return f"""apiVersion: planner/v1
kind: Deployment
metadata: {{name: drawn}}
model: {{ref: {model}}}
hardware: {{accelerator: {card}, count: {ranks}}}
engine: {{name: {engine}, max_model_len: {length}{said}}}
workload:
  load: {{concurrency: {concurrency}}}
  classes: [{{name: all, prompt_tokens: {max(1, length - 16)}, output_tokens: 16}}]
"""


def refused(text: str) -> Finding | None:
    document, problems = source.parse(text)
    assert document is not None, problems
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    return next((item for item in judgement.findings if item.id == "memory-does-not-fit"), None)


@MANY
@given(
    st.sampled_from(sorted(ENGINES)),
    st.sampled_from(["l4", "rtx-4090", "a100-sxm-40", "h100-sxm"]),
    st.sampled_from(MODELS),
    st.sampled_from([2048, 16384, 65536, 131072]),
    st.sampled_from([1, 4, 32]),
    st.sampled_from([0.5, 0.8, 0.9, 0.97]),
)
def test_what_is_told_to_fit_fits(
    engine: str, card: str, model: str, length: int, concurrency: int, fraction: float
) -> None:
    key = ENGINES[engine]
    keys: dict[str, Any] = {key: fraction} if key else {"max_num_seqs": concurrency}
    found = refused(spec(engine, card, model, length, concurrency, **keys))
    assume(found is not None)
    assert found is not None
    values = found.values
    if context := int(values.get("largest_context") or 0):
        assert refused(spec(engine, card, model, max(17, context), concurrency, **keys)) is None
    if sequences := int(values.get("largest_concurrency") or 0):
        fewer = {**keys, "max_num_seqs": sequences}
        assert refused(spec(engine, card, model, length, sequences, **fewer)) is None
    if values.get("fewest_accelerators") and key:
        assert refused(spec(engine, card, model, length, concurrency, **{**keys, **values["layout"]})) is None
    for setting, value in values.get("settings", {}).items():
        changed = {**keys, key if setting == "memory_fraction" and key else setting: value}
        assert refused(spec(engine, card, model, length, concurrency, **changed)) is None
