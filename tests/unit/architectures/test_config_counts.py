"""Parameter counts, against the totals that the publishers' weight files hold."""

from __future__ import annotations

from typing import Any

import pytest

from planner.domain import shards
from planner.domain.model import Model

# model: (config, parameters of its files, cache bytes for each token at 2 bytes)
PUBLISHED: dict[str, tuple[dict[str, Any], int, int]] = {
    # Qwen1.5-1.8B is not tied, though a public copy says so: 1,836,828,672 only comes out with a head of its own.
    "Qwen1.5-1.8B": (
        {"model_type": "qwen2", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16,
         "num_key_value_heads": 16, "intermediate_size": 5504, "vocab_size": 151936, "tie_word_embeddings": False},
        1_836_828_672, 24 * 2 * 2048 * 2,
    ),
    # The head dim is 128, not hidden / heads = 160; hidden 5120, 32 heads, 8 KV heads.
    "Mistral-Nemo-12B": (
        {"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32,
         "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336, "vocab_size": 131072,
         "sliding_window": None, "tie_word_embeddings": False},
        12_247_782_400, 40 * 2 * 8 * 128 * 2,
    ),
    # 80 heads of 128 against a width of 5120; biases on queries, keys and values only.
    "Seed-OSS-36B": (
        {"model_type": "seed_oss", "hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 80,
         "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 27648, "vocab_size": 155136,
         "attention_bias": True, "attention_out_bias": False, "tie_word_embeddings": False},
        36_151_104_512, 64 * 2 * 8 * 128 * 2,
    ),
    "Mixtral-8x22B": (
        {"model_type": "mixtral", "hidden_size": 6144, "num_hidden_layers": 56, "num_attention_heads": 48,
         "num_key_value_heads": 8, "intermediate_size": 16384, "vocab_size": 32000, "num_local_experts": 8,
         "num_experts_per_tok": 2, "tie_word_embeddings": False},
        140_620_634_112, 56 * 2 * 8 * 128 * 2,
    ),
    "gemma-2-9b": (
        {"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42, "num_attention_heads": 16,
         "num_key_value_heads": 8, "head_dim": 256, "intermediate_size": 14336, "vocab_size": 256000},
        9_241_705_984, 42 * 2 * 8 * 256 * 2,
    ),
    # `intermediate_size` is null: four times the width. One bias more for each head row.
    "gpt-j-6b": (
        {"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_layer": 28, "n_positions": 2048, "n_inner": None,
         "vocab_size": 50400, "tie_word_embeddings": False},
        6_050_882_784, 28 * 2 * 4096 * 2,
    ),
    "phi-2": (
        {"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32,
         "num_key_value_heads": 32, "intermediate_size": 10240, "vocab_size": 51200, "tie_word_embeddings": False},
        2_779_683_840, 32 * 2 * 2560 * 2,
    ),
    "OLMo-2-32B": (
        {"model_type": "olmo2", "hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 40,
         "num_key_value_heads": 8, "intermediate_size": 27648, "vocab_size": 100352, "tie_word_embeddings": False},
        32_234_279_936, 64 * 2 * 8 * 128 * 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_published_counts(name: str, read: Any) -> None:
    config, parameters, cache = PUBLISHED[name]
    model = read(config)
    assert model.parameters == parameters
    assert shards.kv_bytes_per_token(model, "bf16") == cache


def test_another_vocabulary_is_another_count(read: Any) -> None:
    """Mixtral-8x22B-Instruct: 768 rows more, twice: 140,620,634,112 + 2 x 768 x 6144 = 140,630,071,296."""
    config = PUBLISHED["Mixtral-8x22B"][0]
    assert read(config, vocab_size=32768).parameters == 140_630_071_296


def test_no_key_value_heads_named_means_one_for_each_head(read: Any, llama_8b: dict[str, Any]) -> None:
    """Llama-1: 32 layers x 2 x 4096 values x 2 bytes."""
    config = {key: value for key, value in llama_8b.items() if key != "num_key_value_heads"}
    assert shards.kv_bytes_per_token(read(config), "bf16") == 32 * 2 * 4096 * 2


def test_falcon_7b_has_one_key_value_head(read: Any, falcon_7b: dict[str, Any]) -> None:
    """`num_kv_heads: 71` is not in force: 32 layers x 2 x 64 x 2 bytes; 6,921,720,704 without the tied head's copy."""
    model = read(falcon_7b)
    assert shards.kv_bytes_per_token(model, "bf16") == 8192
    assert model.parameters == 6_921_720_704
    assert model.tied


def test_latent_attention_is_not_its_key_value_heads(read: Any, deepseek_v3: dict[str, Any]) -> None:
    """61 x (512 + 64) x 2 bytes = 70,272, where 128 heads x 256 would be 57 times as much."""
    model = read(deepseek_v3)
    assert shards.kv_bytes_per_token(model, "bf16") == 70_272
    assert model.parameters == 671_026_419_200
    assert model.active_parameters == 37_552_297_472
    assert _prediction(model) == 684_489_845_504 - 671_026_419_200


def _prediction(model: Model) -> int:
    layers = sum(
        group.count * sum(weight.parameters for weight in group.weights()) for group in model.prediction_layers
    )
    return layers + sum(weight.parameters for weight in model.prediction_extra)


def test_head_dim_of_a_latent_model_says_nothing(read: Any, deepseek_v3: dict[str, Any]) -> None:
    """GLM-5 writes `head_dim` 192 and Kimi Linear 72; neither is cached."""
    assert shards.kv_bytes_per_token(read(deepseek_v3, head_dim=192), "bf16") == 70_272


def test_sizes_that_are_zero_or_null_are_absent(read: Any, llama_8b: dict[str, Any]) -> None:
    assert read(llama_8b, head_dim=0) == read(llama_8b) == read(llama_8b, head_dim=None)


def test_falcon_mamba_ignores_expand(read: Any) -> None:
    """`expand: 16` would be 65,536; the model has `intermediate_size` 8192: 64 x 8192 x (3 x 2 + 16 x 4) bytes."""
    config = {
        "model_type": "falcon_mamba", "hidden_size": 4096, "num_hidden_layers": 64, "expand": 16, "state_size": 16,
        "conv_kernel": 4, "intermediate_size": 8192, "time_step_rank": 256, "vocab_size": 65024,
        "tie_word_embeddings": False,
    }  # fmt: skip
    model = read(config)
    assert model.state_bytes_per_sequence == 64 * 8192 * (3 * 2 + 16 * 4)
    assert shards.kv_bytes_per_token(model, "bf16") == 0


def test_attention_in_some_layers_only(read: Any) -> None:
    """Nemotron-NAS in small: attention in one of two layers, feed-forwards of 2/3 x 1.5 x 256 and 2/3 x 3 x 256."""

    def block(attention: dict[str, Any], multiplier: float) -> dict[str, Any]:
        return {"attention": attention, "ffn": {"ffn_mult": multiplier}}

    config = {
        "model_type": "nemotron-nas", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 8,
        "vocab_size": 100, "intermediate_size": None, "tie_word_embeddings": False,
        "block_configs": [block({"n_heads_in_group": 4}, 1.5), block({"no_op": True}, 3.0)],
    }  # fmt: skip
    model = read(config)
    assert model.attention_layers == 1
    # 8 heads / 4 = 2 KV heads of 32: 2 x 2 x 32 x 2 bytes
    assert shards.kv_bytes_per_token(model, "bf16") == 256
    attention = 2 * 256 * 256 + 2 * 256 * 64
    assert model.parameters == attention + 3 * 256 * (256 + 512) + 3 * 256 + 2 * 100 * 256 + 256


def test_nested_files_and_tying_at_the_top(read: Any, llama_8b: dict[str, Any]) -> None:
    """The whole file's `tie_word_embeddings` is taken before the language part's."""
    nested = {"model_type": "some_vl", "text_config": llama_8b, "tie_word_embeddings": True}
    assert read(nested).parameters == read(llama_8b).parameters - 128256 * 4096


def test_trimmed_gemma_3_takes_class_defaults(read: Any) -> None:
    """gemma-3-27b-it's file has no vocabulary, no pattern and no context: 262,208 rows, every sixth layer full."""
    text = {
        "model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62, "num_attention_heads": 32,
        "num_key_value_heads": 16, "head_dim": 128, "intermediate_size": 21504, "sliding_window": 1024,
    }  # fmt: skip
    model = read({"model_type": "gemma3", "text_config": text})
    assert model.parameters == 27_009_346_304
    assert model.max_context == 131072
    full = [group for group in model.groups if group.mixers[0].window is None]
    assert sum(group.count for group in full) == 10


def test_a_window_as_long_as_the_context_is_none(read: Any, llama_8b: dict[str, Any]) -> None:
    """Phi-3 writes 262144 beside a context of 131072."""
    model = read(llama_8b, model_type="phi3", sliding_window=262144)
    assert model.groups[0].mixers[0].window is None


def test_qwen_windows_are_inert_unless_used(read: Any, llama_8b: dict[str, Any]) -> None:
    model = read(llama_8b, model_type="qwen2", sliding_window=4096, use_sliding_window=False, max_window_layers=16)
    assert all(group.mixers[0].window is None for group in model.groups)
    used = read(llama_8b, model_type="qwen2", sliding_window=4096, use_sliding_window=True, max_window_layers=16)
    assert sorted(group.mixers[0].window or 0 for group in used.groups) == [0, 4096]


def test_unknown_types_are_read_like_llama_and_said(llama_8b: dict[str, Any]) -> None:
    from planner.architectures.config import read_config

    model, findings = read_config({**llama_8b, "model_type": "brand-new"}, name="x")
    assert model is not None
    # 32 x (2 x 4096^2 + 2 x 4096 x 1024 + 3 x 4096 x 14336 + 2 x 4096) + 2 x 128256 x 4096 + 4096
    assert model.parameters == 8_030_261_248
    assert [finding.id for finding in findings] == ["model-type-unknown"]
