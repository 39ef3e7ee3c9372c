"""Formats, kernels, vocabularies, drafts and ranks that engines refuse, by version and card, and their siblings."""

from __future__ import annotations

import pytest

from planner import source
from planner.checks import (
    engine_adapter_rank,
    engine_attention_kernel,
    engine_cache_format,
    engine_compute_format,
    engine_draft_model,
    engine_quantization_tile,
)
from planner.findings import Finding, Severity, Verdict
from planner.pipeline import judge_document


def findings(spec: str, identifier: str) -> list[Finding]:
    document, problems = source.parse(spec)
    assert document is not None, problems
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    return [item for item in judgement.findings if item.id == identifier]


class TestComputeFormat:
    @pytest.mark.parametrize(
        ("engine", "card", "weights", "verdict"),
        [
            ("name: vllm, version: '0.6'", "v100-sxm2-32", "bf16", Verdict.INFEASIBLE),  # vllm issue 946
            ("name: vllm, version: '0.10'", "t4", "bf16", None),  # pull request 17265: float16 instead
            ("name: vllm, version: '0.6'", "a10", "bf16", "none"),
            ("name: vllm, version: '0.6'", "p40", "fp16", Verdict.INFEASIBLE),  # issue 1284: below 7.0
            ("name: sglang", "v100-sxm2-32", "fp16", Verdict.INFEASIBLE),  # sm75 and above
            ("name: sglang", "t4", "bf16", None),
            ("name: tensorrt-llm, version: '0.12'", "t4", "fp16", "none"),
            ("name: tensorrt-llm, version: '0.20'", "t4", "fp16", Verdict.INFEASIBLE),
            ("name: llama-cpp", "p40", "fp16", "none"),
        ],
    )
    def test_by_engine_version_and_card(self, engine: str, card: str, weights: str, verdict: object) -> None:
        spec = engine_compute_format.FAILING.replace('name: vllm, version: "0.6"', engine)
        found = findings(
            spec.replace("t4", card).replace("weights: bf16", f"weights: {weights}"), engine_compute_format.ID
        )
        assert [item.verdict for item in found] == ([] if verdict == "none" else [verdict])


class TestCacheFormat:
    @pytest.mark.parametrize(
        ("engine", "card", "cache", "refused"),
        [
            ("name: vllm, version: '0.7'", "t4", "fp8", False),  # stored only: vllm issue 4827
            ("name: vllm, version: '0.24'", "a100-sxm-80", "fp8", False),
            ("name: tensorrt-llm", "a100-sxm-80", "fp8", True),  # FP8 from Ada
            ("name: tensorrt-llm", "l40s", "fp8", False),
            ("name: tensorrt-llm", "a100-sxm-80", "int8", False),
        ],
    )
    def test_on_the_card(self, engine: str, card: str, cache: str, refused: bool) -> None:
        spec = engine_cache_format.FAILING.replace('name: vllm, version: "0.24"', engine).replace("t4", card)
        found = findings(spec.replace("kv_cache_dtype: fp8", f"kv_cache_dtype: {cache}"), engine_cache_format.ID)
        assert bool(found) is refused

    def test_with_the_weights(self) -> None:
        # https://github.com/vllm-project/vllm/issues/8409
        spec = engine_cache_format.FAILING.replace("t4", "l40s").replace("0.24", "0.6").replace("fp16", "fp8")
        refused = spec.replace("kv_cache_dtype: fp8", "kv_cache_dtype: fp8_e5m2")
        (found,) = findings(refused, engine_cache_format.ID)
        assert found.values["valid_formats"] == ["auto", "fp8_e4m3"]
        assert not findings(spec, engine_cache_format.ID)

    def test_llama_cpp_without_flash_attention(self) -> None:
        # https://github.com/ggml-org/llama.cpp/issues/10378
        spec = engine_cache_format.FAILING.replace('vllm, version: "0.24"', "llama-cpp").replace("fp8", "q8_0")
        assert not findings(spec, engine_cache_format.ID)
        off = spec + "levers: [{use: exact-attention-kernel, status: reject, reason: an old build}]\n"
        assert findings(off, engine_cache_format.ID)


class TestAttentionKernel:
    @pytest.mark.parametrize(("version", "refused"), [("0.7", True), ("0.12", False)])
    def test_chunked_prefill_on_volta(self, version: str, refused: bool) -> None:
        spec = (
            engine_compute_format.PASSING.replace("t4", "v100-sxm2-32")
            .replace('"0.6"', f'"{version}"')
            .replace("max_model_len: 2048", "max_model_len: 2048, enable_chunked_prefill: true")
        )
        assert bool(findings(spec, engine_attention_kernel.ID)) is refused

    def test_sparse_attention_on_ampere_in_another_engine(self) -> None:
        spec = engine_attention_kernel.FAILING.replace('vllm, version: "0.20"', "sglang")
        (found,) = findings(spec, engine_attention_kernel.ID)
        assert found.values["needed_capability"] == 9.0

    @pytest.mark.parametrize(
        ("engine", "size", "refused"),
        [
            ("tensorrt-llm", 100, True),  # https://github.com/NVIDIA/TensorRT-LLM/issues/679
            ("tensorrt-llm", 128, False),
            ("vllm, version: '0.2'", 100, True),
            ("vllm, version: '0.10'", 100, False),
            ("llama-cpp", 100, False),
        ],
    )
    def test_head_size(self, engine: str, size: int, refused: bool) -> None:
        spec = engine_compute_format.PASSING.replace("t4", "a100-sxm-80").replace("head_dim: 128", f"head_dim: {size}")
        spec = spec.replace('vllm, version: "0.6"', engine)
        assert bool(findings(spec, engine_attention_kernel.ID)) is refused


class TestVocabulary:
    """Rounded up to 64, then divided: 151,936 = 64 x 2374 is no multiple of 7 (2374 = 7 x 339 + 1)."""

    SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: seven-ranks}
model:
  architecture:
    parameters: 7e9
    layers: 28
    hidden: 3584
    feed_forward: 18816
    vocabulary: 151936
    attention: {heads: 28, kv_heads: 28, head_dim: 128}
hardware: {accelerator: a100-sxm-80, count: 7}
engine: {name: vllm, tensor_parallel_size: 7, max_model_len: 2048}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""

    def test_divided_after_rounding_up(self) -> None:
        (found,) = findings(self.SPEC, "engine-tensor-parallel")
        assert found.values["shapes"] == {"rows of the padded vocabulary": 151_936}
        assert 7 not in found.values["valid_tp"]

    def test_a_vocabulary_that_divides(self) -> None:
        # 64 x 2373 = 151,872 = 7 x 21,696
        assert not findings(self.SPEC.replace("151936", "151872"), "engine-tensor-parallel")

    def test_twenty_four_ranks(self) -> None:
        # 129,280 = 24 x 5386 + 16: https://github.com/sgl-project/sglang/issues/3436
        spec = self.SPEC.replace("151936", "129280").replace("28, kv_heads: 28", "48, kv_heads: 48")
        spec = spec.replace("7,", "24,").replace("count: 7", "count: 24").replace("18816", "18432")
        (found,) = findings(spec.replace("name: vllm", "name: sglang"), "engine-tensor-parallel")
        assert found.values["shapes"] == {"rows of the padded vocabulary": 129_280}

    def test_an_engine_that_rounds_up_to_the_ranks(self) -> None:
        assert not findings(self.SPEC.replace("name: vllm", "name: tensorrt-llm"), "engine-tensor-parallel")


class TestDraft:
    def test_vocabulary(self) -> None:
        # 152,064 - 151,936 = 128
        (found,) = findings(engine_draft_model.FAILING, engine_draft_model.ID)
        assert (found.values["draft_vocabulary"], found.values["target_vocabulary"]) == (151_936, 152_064)
        assert found.verdict is Verdict.INFEASIBLE

    def test_llama_cpp_allows_128_rows(self) -> None:
        spec = engine_draft_model.FAILING.replace('vllm, version: "0.6"', "llama-cpp")
        assert not findings(spec, engine_draft_model.ID)

    def test_swapped(self) -> None:
        spec = engine_draft_model.PASSING.replace("Qwen2.5-32B-Instruct}", "Qwen2.5-7B-Instruct}", 1)
        (found,) = findings(
            spec.replace("draft: {ref: Qwen/Qwen2.5-7B", "draft: {ref: Qwen/Qwen2.5-32B"), "engine-draft-model"
        )
        assert found.severity is Severity.WARNING

    def test_heads_of_the_draft_on_the_targets_ranks(self) -> None:
        # 28 heads of the draft, 40 of the target, 8 ranks
        spec = engine_draft_model.PASSING.replace("h200-sxm}", "h200-sxm, count: 8}")
        spec = spec.replace('"0.6",', '"0.6", tensor_parallel_size: 8,')
        (found,) = findings(spec, engine_draft_model.ID)
        assert found.values["valid_draft_tp"] == [1, 2, 4]


@pytest.mark.parametrize(
    ("version", "rank", "nearest"), [("0.4", 24, 32), ("0.7", 512, None), ("0.8", 400, 512), ("0.8", 100, 128)]
)
def test_adapter_ranks(version: str, rank: int, nearest: int | None) -> None:
    spec = engine_adapter_rank.FAILING.replace('"0.4"', f'"{version}"').replace("rank: 128", f"rank: {rank}")
    (found,) = findings(spec, engine_adapter_rank.ID)
    assert found.values["nearest_rank"] == nearest


class TestDrafts:
    @pytest.mark.parametrize(
        ("version", "refused"), [("0.9", False), ("0.10.0", True), ("0.14.0", True), ("0.16", False)]
    )
    def test_versions_without_draft_models(self, version: str, refused: bool) -> None:
        # arg_utils.py of v0.10.0 and config/speculative.py of v0.14.0 stop; v0.16.0 has them again.
        spec = engine_draft_model.PASSING.replace('"0.6"', f'"{version}"')
        assert bool(findings(spec, engine_draft_model.ID)) is refused

    def test_a_draft_over_the_target_ranks(self) -> None:
        # 14 heads of Qwen2.5-0.5B over 4 ranks; from 0.15 the draft has no ranks of its own.
        draft = """{architecture: {parameters: 5e8, layers: 24, hidden: 896, vocabulary: 152064,
            attention: {heads: 14, kv_heads: 2, head_dim: 64}}}"""
        for version, severity in (("0.6", Severity.WARNING), ("0.16", Severity.ERROR)):
            spec = engine_draft_model.PASSING.replace("{ref: Qwen/Qwen2.5-7B-Instruct}", draft)
            spec = spec.replace('version: "0.6"', f'version: "{version}", tensor_parallel_size: 4')
            spec = spec.replace("accelerator: h200-sxm", "accelerator: h200-sxm, count: 4")
            (found,) = findings(spec, engine_draft_model.ID)
            assert found.severity is severity
            assert found.values["valid_draft_tp"] == [1, 2]


@pytest.mark.parametrize(
    ("engine", "version", "cache", "refused"),
    [
        ("vllm", "0.19", "int8", True),  # CacheDType of v0.19: fp8 and its kinds
        ("vllm", "0.19", "nvfp4", True),
        ("vllm", "0.20", "int8_per_token_head", False),
        ("vllm", "0.19", "q8_0", True),
        ("sglang", "0.5.4", "fp4_e2m1", True),
        ("sglang", "0.5.6", "fp4_e2m1", False),
        ("llama-cpp", "1", "fp8", True),
        ("llama-cpp", "1", "q8_0", False),
    ],
)
def test_cache_formats_of_a_version(engine: str, version: str, cache: str, refused: bool) -> None:
    spec = engine_cache_format.FAILING.replace("accelerator: t4", "accelerator: b200-sxm").replace("vllm", engine)
    spec = spec.replace('"0.24"', f'"{version}"').replace("kv_cache_dtype: fp8", f"kv_cache_dtype: {cache}")
    found = findings(spec, engine_cache_format.ID)
    assert bool(found) is refused
    assert all("auto" in item.values["valid_formats"] for item in found)


@pytest.mark.parametrize(
    ("dtype", "severity"), [("bfloat16", Severity.ERROR), ("auto", Severity.WARNING), ("half", None)]
)
def test_a_dtype_that_is_asked_for_stays(dtype: str, severity: Severity | None) -> None:
    # vLLM falls back to float16 where dtype is auto (pull request 17265); bfloat16 by flag stops on Turing.
    spec = engine_compute_format.FAILING.replace('version: "0.6"', f'version: "0.10", args: {{dtype: {dtype}}}')
    found = findings(spec, engine_compute_format.ID)
    assert [item.severity for item in found] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("model", "tensor", "refused"),
    [
        # bitsandbytes_loader.py: "Prequant BitsAndBytes models with tensor parallelism is not supported".
        ("{ref: unsloth/Qwen2.5-7B-Instruct-bnb-4bit}", 2, True),
        ("{ref: unsloth/Qwen2.5-7B-Instruct-bnb-4bit}", 1, False),
        ("{ref: Qwen/Qwen2.5-7B-Instruct, weights: bnb-nf4}", 2, False),  # quantised as it is loaded
    ],
)
def test_checkpoints_that_are_not_cut(model: str, tensor: int, refused: bool) -> None:
    spec = engine_quantization_tile.FAILING.split("model:")[0] + (
        f"model: {model}\nhardware: {{accelerator: a100-sxm-80, count: {tensor}}}\n"
        f'engine: {{name: vllm, version: "0.9", tensor_parallel_size: {tensor}, max_model_len: 4096}}\n'
        "workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}\n"
    )
    found = findings(spec, engine_quantization_tile.ID)
    assert bool(found) is refused
    assert all(item.values["valid_tp"] == [1] for item in found)


@pytest.mark.parametrize(
    ("model", "args", "refused"),
    [
        ("google/gemma-2-9b", ", args: {dtype: half}", True),
        ("google/gemma-2-9b", "", False),
        ("meta-llama/Llama-3.1-8B-Instruct", ", args: {dtype: half}", False),
    ],
)
def test_families_that_overflow_float16(model: str, args: str, refused: bool) -> None:
    # _FLOAT16_NOT_SUPPORTED_MODELS of vLLM v0.9.2.
    spec = engine_compute_format.FAILING.split("model:")[0] + (
        f"model: {{ref: {model}}}\nhardware: {{accelerator: a100-sxm-80}}\n"
        f'engine: {{name: vllm, version: "0.10", max_model_len: 4096{args}}}\n'
        "workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}\n"
    )
    assert bool(findings(spec, engine_compute_format.ID)) is refused
