"""What an engine would refuse, item by item: the finding, the engines that have it, what it names as valid.

Each row is a configuration that differs from one that passes by the setting under test. Sources are in the modules of
the findings and in the catalogue of engines; tests/cases holds the public threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pytest

from planner import source
from planner.findings import Finding
from planner.pipeline import judge_document

DENSE = "{architecture: {parameters: 7.6e9, layers: 28, hidden: 3584, feed_forward: 18944, vocabulary: 152064, \
max_context: 32768, attention: {heads: 28, kv_heads: 4, head_dim: 128}}}"
EXPERTS = "{architecture: {parameters: 30e9, layers: 48, hidden: 2048, vocabulary: 151936, max_context: 32768, \
experts: {count: 128, per_token: 8, width: 768}, attention: {heads: 32, kv_heads: 4, head_dim: 128}}}"
CARD = "{memory: 80 GB, bandwidth: 2 TB/s, compute: {bf16: 300 TFLOP/s}}"
LOAD = "{load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}"
SERVERS = ("vllm", "sglang", "tensorrt-llm")
EVERY = (*SERVERS, "llama-cpp")


@dataclass(frozen=True)
class Row:
    """One item. keys, hardware, model, rest: what fails; fixed: replacements that make it pass; names: its values."""

    item: str
    finding: str
    engines: tuple[str, ...]
    keys: str = ""
    hardware: str = f"{{accelerator: {CARD}, count: 8}}"
    model: str = DENSE
    workload: str = LOAD
    rest: str = ""
    fixed: tuple[tuple[str, str], ...] = ()
    names: tuple[tuple[str, Any], ...] = ()
    version: str = ""


def card(name: str, count: int = 1) -> str:
    return f"{{accelerator: {name}, count: {count}}}"


def lever(text: str) -> str:
    return f"levers: [{text}]\n"


DRAFT = "use: speculative-decoding, method: draft_model, num_speculative_tokens: 4, acceptance_length: 2.5"
TABLE = (
    Row("heads", "engine-tensor-parallel", SERVERS, "tensor_parallel_size: 8",
        fixed=(("tensor_parallel_size: 8", "tensor_parallel_size: 4, pipeline_parallel_size: 2"),),
        names=(("valid_tp", [1, 2, 4]), ("shapes", {"attention heads": 28}))),
    Row("KV heads", "engine-tensor-parallel", SERVERS, "tensor_parallel_size: 7", card(CARD, 7),
        fixed=(("tensor_parallel_size: 7", "tensor_parallel_size: 1"), ("count: 7", "count: 1"))),
    Row("feed-forward width", "engine-tensor-parallel", SERVERS, "tensor_parallel_size: 4", card(CARD, 4),
        DENSE.replace("18944", "18942"), fixed=(("18942", "18944"),)),
    # 152,000 rows are 2375 x 64; 6 does not divide them. TensorRT-LLM rounds up to the ranks.
    Row("padded vocabulary", "engine-tensor-parallel", ("vllm", "sglang"), "tensor_parallel_size: 6", card(CARD, 6),
        DENSE.replace("heads: 28, kv_heads: 4", "heads: 24, kv_heads: 6").replace("18944", "18432")
        .replace("152064", "152000"), fixed=(("152000", "152064"),)),
    Row("experts", "engine-expert-parallel", ("sglang", "tensorrt-llm"),
        "tensor_parallel_size: 4, expert_parallel_size: 4", card(CARD, 4),
        EXPERTS.replace("count: 128", "count: 126"), fixed=(("count: 126", "count: 128"),),
        names=(("valid_ep", [1, 2]), ("nearest_ep", 2))),
    Row("experts over some ranks", "engine-expert-parallel", ("vllm",),
        "tensor_parallel_size: 4, expert_parallel_size: 2", card(CARD, 4), EXPERTS,
        fixed=(("expert_parallel_size: 2", "expert_parallel_size: 4"),),
        names=(("valid_ep", [1, 4]), ("nearest_ep", 1))),
    Row("unequal experts", "engine-expert-parallel", ("vllm",), "tensor_parallel_size: 4, expert_parallel_size: 4",
        card(CARD, 4), EXPERTS.replace("count: 128", "count: 126"), fixed=(("count: 126", "count: 128"),),
        names=(("experts_of_the_fullest", 32),)),
    Row("expert width", "engine-tensor-parallel", SERVERS, "tensor_parallel_size: 4", card(CARD, 4),
        EXPERTS.replace("width: 768", "width: 766"), fixed=(("width: 766", "width: 768"),)),
    Row("tile of a quantised shard", "engine-quantization-tile", ("vllm",), "tensor_parallel_size: 4",
        card("a100-sxm-80", 4), DENSE.replace("}}}", "}}, weights: gptq-int4}").replace("18944", "18688"),
        fixed=(("18688", "18944"),), version="0.9"),
    Row("tile of weight-only rows", "engine-quantization-tile", ("tensorrt-llm",), "tensor_parallel_size: 4",
        card("a100-sxm-80", 4), DENSE.replace("}}}", "}}, weights: gptq-int4}").replace("18944", "18720"),
        fixed=(("18720", "18944"),)),
    Row("weights against the card", "engine-weight-format", SERVERS, "", card("a100-sxm-80"),
        DENSE.replace("}}}", "}}, weights: nvfp4}"), fixed=(("a100-sxm-80", "b200-sxm"),), version="0.5"),
    Row("weights against the version", "engine-weight-format", ("vllm",), "", card("a100-sxm-80"),
        DENSE.replace("}}}", "}}, weights: q4_k_m}"), fixed=(('"0.24"', '"0.23"'),), version="0.24"),
    Row("cache against the card", "engine-cache-format", ("vllm",), "kv_cache_dtype: fp8", card("t4"),
        DENSE.replace("}}}", "}}, weights: fp16}"), fixed=(("t4", "l4"),), version="0.24"),
    Row("cache against the engine", "engine-cache-format", ("vllm", "sglang"), "kv_cache_dtype: int8",
        fixed=(("int8", "fp8"),), version="0.5"),
    Row("cache against the engine", "engine-cache-format", ("llama-cpp",), "kv_cache_dtype: fp8",
        fixed=(("dtype: fp8", "dtype: q8_0"),)),
    Row("activations against the card", "engine-compute-format", ("vllm",), "", card("t4"),
        fixed=(("}}}", "}}, weights: fp16}"),), version="0.6"),
    Row("activations against the card", "engine-compute-format", ("tensorrt-llm",), "", card("v100-sxm2-32"),
        fixed=(("}}}", "}}, weights: fp16}"),), version="0.9"),
    Row("attention against the card", "engine-attention-kernel", ("vllm", "sglang"), "tensor_parallel_size: 8",
        card("a100-sxm-80", 8), "{ref: deepseek-ai/DeepSeek-V3.2}", fixed=(("a100-sxm-80", "h200-sxm"),)),
    Row("head size", "engine-attention-kernel", ("tensorrt-llm",), "", model=DENSE.replace("128}}", "100}}"),
        fixed=(("head_dim: 100", "head_dim: 96"),)),
    Row("context beyond the model", "engine-context-exceeds-model", EVERY, "max_model_len: 65536",
        fixed=(("65536", "32768"),), names=(("largest_max_model_len", 32768),)),
    Row("batched tokens and whole prompts", "engine-batched-tokens", ("vllm",),
        "max_num_batched_tokens: 2048, enable_chunked_prefill: false", fixed=(("chunked_prefill: false",
        "chunked_prefill: true"),), names=(("smallest_max_num_batched_tokens", 32768),)),
    Row("images of a request", "engine-multimodal-profile", ("vllm",),
        "limit_mm_per_prompt: {image: 12}, mm_processor_kwargs: {max_pixels: 12845056}",
        fixed=(("12845056", "602112"),), names=(("largest_image_limit", 2),)),
    Row("vocabulary of a draft", "engine-draft-model", ("vllm", "tensorrt-llm"), "", card("h200-sxm"),
        "{ref: Qwen/Qwen2.5-32B-Instruct}", rest=lever(f"{{{DRAFT}, draft: {{ref: Qwen/Qwen2.5-1.5B-Instruct}}}}"),
        fixed=(("Qwen2.5-1.5B", "Qwen2.5-7B"),), version="0.9"),
    Row("size of a draft", "engine-draft-model", ("llama-cpp",), "", card("h200-sxm"),
        "{ref: Qwen/Qwen2.5-7B-Instruct}", rest=lever(f"{{{DRAFT}, draft: {{ref: Qwen/Qwen2.5-32B-Instruct}}}}"),
        fixed=(("Qwen2.5-32B", "Qwen2.5-7B"), ("ref: Qwen/Qwen2.5-7B-Instruct}\nhardware",
        "ref: Qwen/Qwen2.5-32B-Instruct}\nhardware"))),
    Row("world size", "engine-world-size", SERVERS, "tensor_parallel_size: 4", card(CARD, 2),
        fixed=(("count: 2", "count: 4"),), names=(("valid_tp", [1, 2, 4]),)),
    Row("stages and layers", "engine-pipeline-parallel", SERVERS, "pipeline_parallel_size: 8",
        model=DENSE.replace("layers: 28", "layers: 4"), fixed=(("layers: 4", "layers: 28"),)),
    Row("unlike cards", "engine-mixed-cards", SERVERS, "tensor_parallel_size: 2", card("[rtx-3090, rtx-4060ti-8]", 2),
        DENSE.replace("7.6e9", "1.6e9"), fixed=(("[rtx-3090, rtx-4060ti-8]", "rtx-3090"),)),
    Row("adapter ranks", "engine-adapter-rank", ("vllm",), "max_loras: 1, max_lora_rank: 24",
        fixed=(("rank: 24", "rank: 32"),), names=(("nearest_rank", 32),)),
    Row("adapter slots", "adapter-memory", ("vllm",), "max_loras: 2, max_lora_rank: 16",
        workload=LOAD.replace("100}]", "100, adapters: 8}]"), fixed=((", max_loras: 2, max_lora_rank: 16",
        ""), (", adapters: 8", ""))),
    Row("nothing left for graphs", "engine-utilization-high", ("vllm",), "gpu_memory_utilization: 0.975",
        card("{memory: 24 GB, bandwidth: 1 TB/s, compute: {bf16: 100 TFLOP/s}}"), fixed=(("0.975", "0.9"),),
        version="0.11"),
    Row("experts are resident", "experts-resident", EVERY, "max_model_len: 4096",
        card("{memory: 24 GB, bandwidth: 1 TB/s, compute: {bf16: 100 TFLOP/s}}"), EXPERTS,
        fixed=(("memory: 24 GB", "memory: 96 GB"),)),
)  # fmt: skip


def text(row: Row, engine: str) -> str:
    version = f', version: "{row.version}"' if row.version else ""
    keys = f", {row.keys}" if row.keys else ""
    fewer = "" if "max_num_batched_tokens" in row.keys or "max_num_seqs" in row.keys else ", max_num_seqs: 16"
    hardware = row.hardware if "parallel_size" in row.keys else row.hardware.replace(", count: 8", "")
    return (
        f"apiVersion: planner/v1\nkind: Deployment\nmetadata: {{name: row}}\nmodel: {row.model}\nhardware: {hardware}\n"
        f"engine: {{name: {engine}{version}{keys}{fewer}}}\nworkload: {row.workload}\n{row.rest}"
    )


@lru_cache(maxsize=256)
def found(spec: str, identifier: str) -> tuple[Finding, ...]:
    document, problems = source.parse(spec)
    assert document is not None, problems
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    return tuple(item for item in judgement.findings if item.id == identifier)


ROWS = [pytest.param(row, engine, id=f"{row.item}, {engine}") for row in TABLE for engine in row.engines]


@pytest.mark.parametrize(("row", "engine"), ROWS)
def test_it_is_found(row: Row, engine: str) -> None:
    findings = found(text(row, engine), row.finding)
    assert findings, row.item
    first = findings[0]
    assert first.hint, "a finding names the way out"
    for name, value in row.names:
        assert first.values[name] == value


@pytest.mark.parametrize(("row", "engine"), ROWS)
def test_the_neighbour_passes(row: Row, engine: str) -> None:
    spec = text(row, engine)
    for before, after in row.fixed:
        assert before in spec
        spec = spec.replace(before, after)
    assert not found(spec, row.finding), row.item
