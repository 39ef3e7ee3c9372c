"""Weight bytes of quantised checkpoints, against published file sizes and hand arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from planner.domain import shards


def test_gpt_oss_120b_is_65_gb(read: Any, gpt_oss_120b: dict[str, Any]) -> None:
    """Experts in 4.25 bits, everything else in 16: the published files are 65.25 GB."""
    model = read(gpt_oss_120b)
    assert model.parameters == 116_829_156_672
    assert shards.weight_bytes(model) == pytest.approx(65.25e9, rel=1e-3)


def test_llama_405b_fp8_keeps_attention_and_the_outer_layers(read: Any, llama_8b: dict[str, Any]) -> None:
    """124 layers x 3 x 16384 x 53248 in 8 bits, 15,237,120 scales of 4 bytes, all else of 405.85 B in 16 bits.

    324,538,466,304 + 60,948,480 + 2 x 81,314,893,824 = 487.2 GB = 453.8 GiB; 8 bits for all would be 378.
    """
    names = [f"model.layers.{layer}.mlp.{part}_proj" for layer in (0, 125) for part in ("gate", "up", "down")]
    names += [f"model.layers.{layer}.self_attn.{part}_proj" for layer in range(126) for part in "qkvo"]
    model = read(
        llama_8b, hidden_size=16384, num_hidden_layers=126, num_attention_heads=128, intermediate_size=53248,
        quantization_config={"quant_method": "fbgemm_fp8", "modules_to_not_convert": names},
    )  # fmt: skip
    assert model.parameters == 405_853_388_800
    mlp = 124 * 3 * 16384 * 53248
    assert shards.weight_bytes(model) == mlp + 4 * 15_237_120 + 2 * (405_853_388_800 - mlp)


def test_fp8_blocks_of_deepseek_v3(read: Any, deepseek_v3: dict[str, Any]) -> None:
    """Scales are one for 128 x 128 values; embedding, head, router and norms stay in 16 bits."""
    scheme = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
    model = read(deepseek_v3, quantization_config=scheme)
    small = 2 * 129280 * 7168 + 58 * (256 * 7168 + 256) + 61 * (2 * 7168 + 1536 + 512) + 7168
    eight_bits = 671_026_419_200 - small
    # The 576-wide products have half a block of rows: within 1e-4 of 4 bytes for each 16,384 values.
    assert shards.weight_bytes(model) == pytest.approx(eight_bits * (1 + 4 / 16384) + 2 * small, rel=1e-4)


def test_awq_and_gptq_keep_embedding_and_head(read: Any, llama_8b: dict[str, Any]) -> None:
    """4 + (16 + 4) / 128 bits; GPTQ adds 32 bits for each input of each product."""
    matrices = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    rest = 8_030_261_248 - matrices
    awq = read(llama_8b, quantization_config={"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True})
    assert shards.weight_bytes(awq) == matrices * (4 + 20 / 128) / 8 + 2 * rest
    gptq = read(llama_8b, quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True})
    inputs = 32 * (6 * 4096 + 14336)
    assert shards.weight_bytes(gptq) == matrices * (4 + 20 / 128) / 8 + 4 * inputs + 2 * rest


def test_nvfp4_excludes_by_wildcard_and_fixes_the_cache(read: Any, llama_8b: dict[str, Any]) -> None:
    """4.5 bits on feed-forwards, 16 on attention (`*self_attn*`) and head, as hf_quant_config.json says."""
    beside = {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16,
                               "exclude_modules": ["lm_head", "model.layers.*.self_attn*"]}}  # fmt: skip
    model = read(llama_8b, beside=beside)
    matrices = 32 * 3 * 4096 * 14336
    assert shards.weight_bytes(model) == matrices * 4.5 / 8 + 2 * (8_030_261_248 - matrices)
    assert model.cache_format == "fp8"
    assert shards.kv_bytes_per_token(model) == 32 * 2 * 1024


def test_compressed_tensors_with_expressions(read: Any, deepseek_v3: dict[str, Any]) -> None:
    """Kimi-K2.5's way: only routed experts, int4 in groups of 32 (4.5 bits)."""
    weights = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True}
    scheme = {
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}},
        "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"],
    }  # fmt: skip
    experts = 58 * 256 * 3 * 7168 * 2048
    model = read(deepseek_v3, quantization_config=scheme)
    assert shards.weight_bytes(model) == experts * 4.5 / 8 + 2 * (671_026_419_200 - experts)


def test_mixed_precision_names_its_layers(read: Any, llama_8b: dict[str, Any]) -> None:
    layers = {f"model.language_model.layers.{i}.mlp.down_proj": {"quant_algo": "NVFP4"} for i in range(32)}
    layers |= {"lm_head": {"quant_algo": "FP8"}}
    model = read(llama_8b, beside={"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers}})
    down, head = 32 * 4096 * 14336, 128256 * 4096
    assert shards.weight_bytes(model) == down * 4.5 / 8 + head + 2 * (8_030_261_248 - down - head)


def test_an_unknown_scheme_is_said(llama_8b: dict[str, Any]) -> None:
    from planner.architectures.config import read_config

    model, findings = read_config({**llama_8b, "quantization_config": {"quant_method": "magic"}}, name="x")
    assert model is not None
    assert [finding.id for finding in findings] == ["model-config-quantization-unknown"]


@pytest.mark.parametrize("pattern", ["re:(a+)+$", "re:[", "re:" + "(" * 150, "", 7, None, "x" * 5000])
def test_hostile_patterns_do_no_harm(read: Any, llama_8b: dict[str, Any], pattern: Any) -> None:
    scheme = {"quant_method": "fp8", "modules_to_not_convert": [pattern]}
    assert read(llama_8b, quantization_config=scheme).quantization == "fp8"
