"""What a weights lever makes of a model, against sizes of files that the tools made."""

from __future__ import annotations

import pytest

from planner.architectures.config import read_config
from planner.domain import formats, shards
from planner.domain.model import Model
from planner.domain.requantize import requantize

LLAMA_8B = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": False,
}  # fmt: skip
LLAMA_70B = {**LLAMA_8B, "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64,
             "intermediate_size": 28672}  # fmt: skip
MATRICES = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
REST = 8_030_261_248 - MATRICES


def _read(config: dict[str, object]) -> Model:
    model, _ = read_config(config, name="x")
    assert model is not None
    return model


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [("q2_k", 3.18), ("q3_k_m", 4.02), ("q4_k_s", 4.69), ("q4_k_m", 4.92), ("q5_k_m", 5.73), ("q6_k", 6.60),
     ("q8_0", 8.54), ("iq4_xs", 4.45), ("iq2_m", 2.95), ("iq3_xs", 3.52), ("iq3_xxs", 3.27)],
)  # fmt: skip
def test_gguf_sizes_of_llama_8b(name: str, gigabytes: float) -> None:
    """Published GGUF files of Llama-3.1-8B-Instruct; they hold a few MB of tokeniser beside the tensors."""
    assert shards.weight_bytes(requantize(_read(LLAMA_8B), name)) == pytest.approx(gigabytes * 1e9, rel=5e-3)


BIG = [("q4_k_m", 42.52), ("q3_k_m", 34.27), ("q2_k", 26.38), ("iq3_m", 31.94)]


@pytest.mark.parametrize(("name", "gigabytes"), BIG)
def test_gguf_sizes_of_llama_70b(name: str, gigabytes: float) -> None:
    assert shards.weight_bytes(requantize(_read(LLAMA_70B), name)) == pytest.approx(gigabytes * 1e9, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "bits"),
    [("int4", 4 + 16 / 128), ("awq-int4", 4 + 20 / 128), ("nvfp4", 4.5), ("fp8", 8), ("bnb-nf4", 4.127)],
)
def test_embedding_head_and_norms_stay(name: str, bits: float) -> None:
    size = shards.weight_bytes(requantize(_read(LLAMA_8B), name))
    assert size == pytest.approx(MATRICES * bits / 8 + 2 * REST, rel=1e-4)


def test_an_ideal_engine_charges_nominal_bits_for_everything() -> None:
    assert shards.weight_bytes(requantize(_read(LLAMA_8B), "int4"), nominal=True) == 8_030_261_248 / 2
    assert shards.weight_bytes(requantize(_read(LLAMA_8B), "q4_k_m"), nominal=True) == 8_030_261_248 / 2


def test_already_stored_so_stays_and_sixteen_bits_undo_it() -> None:
    scheme = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    published = _read({**LLAMA_8B, "quantization_config": scheme})
    assert requantize(published, "fp8") is published
    assert shards.weight_bytes(requantize(published, "bf16")) == 2 * 8_030_261_248


def test_mxfp4_converts_experts_where_there_are_any() -> None:
    config = {**LLAMA_8B, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    model = requantize(_read(config), "mxfp4")
    experts = 32 * 8 * 3 * 4096 * 14336
    assert shards.weight_bytes(model) == experts * 4.25 / 8 + 2 * (model.parameters - experts)


def test_every_spelling_is_known() -> None:
    for name in (*formats.spellings(), "q4_K_M", "BF16", "float8_e4m3fn", "int4-g32"):
        assert formats.get(name) is not None, name
    assert formats.get("q9_z") is None
    assert formats.get("int4-g0") is None


def test_arithmetic_that_is_missing_falls_back_to_the_dtype() -> None:
    assert formats.compute_format("fp8", "bf16", {"bf16", "fp8"}) == "fp8"
    assert formats.compute_format("fp8", "bf16", {"bf16"}) == "bf16"
    assert formats.compute_format("awq-int4", "fp16", {"bf16", "fp16", "int4"}) == "fp16"
