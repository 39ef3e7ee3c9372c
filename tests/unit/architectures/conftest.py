"""Configs of well-known models, by the figures that their publishers give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.architectures.config import read_config
from planner.domain.model import Model

Read = Callable[..., Model]


@pytest.fixture
def read() -> Read:
    """`read(config, **changes)`: the model; fails on an error finding."""

    def reader(config: dict[str, Any], *, beside: dict[str, Any] | None = None, **changes: Any) -> Model:
        model, findings = read_config({**config, **changes}, name="test", hf_quant_config=beside)
        assert model is not None, [finding.message for finding in findings]
        return model

    return reader


@pytest.fixture
def llama_8b() -> dict[str, Any]:
    """meta-llama/Llama-3.1-8B."""
    return {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16",
        "max_position_embeddings": 131072, "tie_word_embeddings": False,
    }  # fmt: skip


@pytest.fixture
def deepseek_v3() -> dict[str, Any]:
    """deepseek-ai/DeepSeek-V3, without its quantisation."""
    return {
        "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
        "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "vocab_size": 129280,
        "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
        "moe_layer_freq": 1, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16",
        "max_position_embeddings": 163840, "tie_word_embeddings": False,
    }  # fmt: skip


@pytest.fixture
def falcon_7b() -> dict[str, Any]:
    """tiiuae/falcon-7b."""
    return {
        "model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,
        "num_kv_heads": 71, "multi_query": True, "new_decoder_architecture": False, "parallel_attn": True,
        "bias": False, "vocab_size": 65024,
    }  # fmt: skip


@pytest.fixture
def gpt_oss_120b() -> dict[str, Any]:
    """openai/gpt-oss-120b."""
    return {
        "model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 36,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "num_local_experts": 128,
        "num_experts_per_tok": 4, "vocab_size": 201088, "sliding_window": 128, "attention_bias": True,
        "max_position_embeddings": 131072, "tie_word_embeddings": False,
        "layer_types": ["sliding_attention", "full_attention"] * 18,
        "quantization_config": {
            "quant_method": "mxfp4",
            "modules_to_not_convert": [
                "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head",
            ],
        },
    }  # fmt: skip
