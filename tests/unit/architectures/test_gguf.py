"""GGUF headers: counts and bytes to the unit, what is cached, and files made to hurt."""

from __future__ import annotations

import importlib.util
import math
import struct
import time
from pathlib import Path
from typing import Any

import pytest

from planner.architectures.gguf import read_gguf
from planner.architectures.gguf_bytes import MOST_BYTES
from planner.domain.model import Model
from planner.domain.shards import stored_bytes


def load_writer() -> Any:
    """gguf_writer.py beside this file; test folders are no packages."""
    spec = importlib.util.spec_from_file_location("gguf_writer", Path(__file__).with_name("gguf_writer.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


writer = load_writer()


def read(tmp_path: Path, metadata: dict[str, Any], tensors: Any, **form: Any) -> Model:
    model, findings = read_gguf(writer.write(tmp_path / "m.gguf", metadata, tensors, **form))
    assert model is not None, findings
    assert not findings
    return model


def weight_bytes(model: Model) -> float:
    return math.fsum(count * stored_bytes(weight, model) for count, weight in model.weights())


def cache_elements(model: Model) -> int:
    return sum(count * entry.elements for count, entry in model.cache_entries())


def fault(path: Path) -> str:
    model, findings = read_gguf(path)
    assert model is None
    assert findings[0].id.startswith("model-gguf-")
    assert findings[0].verdict is not None
    return findings[0].message


def test_llama_3_2_1b_has_its_published_count(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("llama", 16, 2048, 32, 8, 64, 8192, 128256, kind="Q8_0", tied=True)
    tensors.append(("rope_freqs.weight", (32,), "F32"))
    model = read(tmp_path, metadata, tensors)
    assert model.parameters == 1_235_814_400 + 32  # the model card's, and the frequencies of Llama 3's rotation
    # Norms are 33 x 2048 values in 4 bytes, with the 32 frequencies; all else is in blocks of 32 values and 34 bytes.
    blocks = (1_235_814_400 - 33 * 2048) * 34 // 32
    assert weight_bytes(model) == blocks + 4 * (33 * 2048 + 32)
    assert model.tied
    assert cache_elements(model) == 16 * 2 * 8 * 64
    assert (model.hidden, model.vocabulary, model.max_context, model.layers) == (2048, 128256, 8192, 16)


def test_mixed_types_part_layers_into_groups(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("llama", 4, 512, 8, 2, 64, 1024, 256, kind="Q4_K", table="Q6_K")
    metadata["general.file_type"] = 15
    tensors = [(n, s, "Q6_K" if n in ("blk.0.ffn_down.weight", "blk.3.ffn_down.weight") else t) for n, s, t in tensors]
    model = read(tmp_path, metadata, tensors)
    assert [group.layers for group in model.groups] == [(0, 3), (1, 2)]
    assert model.quantization == "q4_k_m"
    assert weight_bytes(model) == sum(writer.tensor_bytes(shape, kind) for _, shape, kind in tensors)
    key = next(weight for _, weight in model.weights() if weight.name == "attn_k")
    assert (key.outputs, key.inputs, key.shard, key.heads, key.format) == (128, 512, "kv", 2, "q4_k")


def test_experts(tmp_path: Path) -> None:
    """Mixtral's shape, an eighth as wide: 8 experts, 2 used."""
    metadata, tensors = writer.decoder("llama", 2, 512, 4, 1, 128, 1792, 320, expert_count=8, expert_used_count=2)
    tensors = [item for item in tensors if "ffn_" not in item[0] or "norm" in item[0]]
    for layer in range(2):
        tensors.append((f"blk.{layer}.ffn_gate_inp.weight", (512, 8), "F32"))
        for name, shape in (("gate", (512, 1792, 8)), ("up", (512, 1792, 8)), ("down", (1792, 512, 8))):
            tensors.append((f"blk.{layer}.ffn_{name}_exps.weight", shape, "MXFP4"))
    model = read(tmp_path, metadata, tensors)
    fed = model.groups[0].feed_forwards[0]
    assert (fed.kind, fed.experts, fed.experts_per_token, fed.width) == ("experts", 8, 2, 1792)
    assert model.parameters - model.active_parameters == 2 * 6 * 3 * 512 * 1792  # six of eight rest in each of 2 layers
    assert weight_bytes(model) == sum(writer.tensor_bytes(shape, kind) for _, shape, kind in tensors)
    assert {weight.role for weight in fed.weights} == {"router", "expert"}


def test_windows_by_architecture_and_by_pattern(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("gemma2", 4, 256, 4, 2, 64, 512, 256, **{"attention.sliding_window": 4096})
    assert [group.layers for group in read(tmp_path, metadata, tensors).groups] == [(0, 2), (1, 3)]
    metadata["gemma2.attention.sliding_window_pattern"] = [True, True, True, False]
    groups = read(tmp_path, metadata, tensors).groups
    assert [group.layers for group in groups] == [(0, 1, 2), (3,)]
    assert [group.mixers[0].window for group in groups] == [4096, None]


def test_gemma_3_slides_but_every_sixth(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("gemma3", 12, 256, 4, 2, 64, 512, 256, **{"attention.sliding_window": 512})
    full = [group.layers for group in read(tmp_path, metadata, tensors).groups if group.mixers[0].window is None]
    assert full == [(5, 11)]


def test_shared_cache_layers_keep_nothing(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("gemma3n", 5, 256, 4, 2, 64, 512, 256, **{"attention.shared_kv_layers": 2})
    assert cache_elements(read(tmp_path, metadata, tensors)) == 3 * 2 * 2 * 64


def test_latent_attention_caches_one_latent(tmp_path: Path) -> None:
    """DeepSeek-V2-Lite: 512 + 64 values a token and layer, whatever the heads."""
    metadata, tensors = writer.decoder(
        "deepseek2", 2, 2048, 16, 16, 192, 1024, 256, **{"attention.kv_lora_rank": 512, "attention.value_length": 128}
    )
    tensors = [item for item in tensors if "attn_k." not in item[0] and "attn_v." not in item[0]]
    for layer in range(2):
        tensors += [
            (f"blk.{layer}.attn_kv_a_mqa.weight", (2048, 576), "F16"),
            (f"blk.{layer}.attn_kv_a_norm.weight", (512,), "F32"),
            (f"blk.{layer}.attn_kv_b.weight", (512, 16 * 256), "F16"),
        ]
    model = read(tmp_path, metadata, tensors)
    mixer = model.groups[0].mixers[0]
    assert cache_elements(model) == 2 * 576
    assert mixer.kind == "latent-attention"
    assert (mixer.key_dim, mixer.value_dim, mixer.decode_key_dim, mixer.decode_value_dim) == (192, 128, 576, 512)


def test_mamba_keeps_state(tmp_path: Path) -> None:
    """Mamba-130M: inner 1536, state 16, kernel 4: 3 x 1536 and 1536 x 16 values a layer, 4 bytes each."""
    metadata = {
        "general.architecture": "mamba", "mamba.block_count": 1, "mamba.embedding_length": 768,
        "mamba.attention.head_count": 0, "mamba.ssm.conv_kernel": 4, "mamba.ssm.inner_size": 1536,
        "mamba.ssm.state_size": 16, "mamba.ssm.time_step_rank": 48, "mamba.vocab_size": 256,
    }  # fmt: skip
    shapes = {"attn_norm.weight": (768,), "ssm_in.weight": (768, 3072), "ssm_conv1d.weight": (4, 1536),
              "ssm_conv1d.bias": (1536,), "ssm_x.weight": (1536, 80), "ssm_dt.weight": (48, 1536),
              "ssm_dt.bias": (1536,), "ssm_a": (16, 1536), "ssm_d": (1536,), "ssm_out.weight": (1536, 768)}  # fmt: skip
    tensors = [("token_embd.weight", (768, 256), "F16"), ("output_norm.weight", (768,), "F32")]
    tensors += [(f"blk.0.{name}", shape, "F32") for name, shape in shapes.items()]
    model = read(tmp_path, metadata, tensors)
    assert model.state_bytes_per_sequence == 4 * (3 * 1536 + 1536 * 16)
    assert cache_elements(model) == 0
    assert model.parameters == 768 * 256 + 768 + sum(math.prod(shape) for shape in shapes.values())


def test_hybrid_layers_by_zero_heads(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("jamba", 2, 256, 4, 2, 64, 512, 256)
    metadata["jamba.attention.head_count_kv"] = [0, 2]
    metadata |= {"jamba.ssm.conv_kernel": 4, "jamba.ssm.inner_size": 512, "jamba.ssm.state_size": 16}
    tensors = [item for item in tensors if not item[0].startswith("blk.0.attn_") or "norm" in item[0]]
    tensors += [("blk.0.ssm_conv1d.weight", (4, 512), "F32"), ("blk.0.ssm_x.weight", (512, 48), "F32")]
    model = read(tmp_path, metadata, tensors)
    assert [group.mixers[0].kind for group in model.groups] == ["mamba-1", "full-attention"]
    assert cache_elements(model) == 2 * 2 * 64


def test_prediction_layers_are_set_apart(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("glm4moe", 3, 256, 4, 2, 64, 512, 256, nextn_predict_layers=1)
    tensors.append(("blk.2.nextn.eh_proj.weight", (512, 256), "F16"))
    model = read(tmp_path, metadata, tensors)
    assert (model.layers, [group.layers for group in model.prediction_layers]) == (2, [(2,)])


def test_version_2_and_big_endian(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("llama", 1, 256, 4, 2, 64, 512, 256)
    usual = read(tmp_path, metadata, tensors)
    assert read(tmp_path, metadata, tensors, version=2) == usual
    assert read(tmp_path, metadata, tensors, order=">") == usual


def test_parts_of_a_split_file(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("llama", 2, 256, 4, 2, 64, 512, 256)
    metadata["split.count"] = 2
    first = writer.write(tmp_path / "m-00001-of-00002.gguf", metadata, tensors[:9])
    assert "part 2 is not beside it" in fault(first)
    writer.write(tmp_path / "m-00002-of-00002.gguf", {"split.count": 2}, tensors[9:])
    model, findings = read_gguf(first)
    assert model is not None
    assert not findings
    assert model.parameters == sum(math.prod(shape) for _, shape, _ in tensors)


def test_a_file_without_its_tensors_is_read_with_a_warning(tmp_path: Path) -> None:
    metadata, tensors = writer.decoder("llama", 1, 256, 4, 2, 64, 512, 256)
    path = tmp_path / "m.gguf"
    path.write_bytes(writer.header(metadata, tensors))
    model, findings = read_gguf(path)
    assert model is not None
    assert [finding.id for finding in findings] == ["model-gguf-truncated"]


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.2, 0.5, 0.9, 0.999])
def test_truncated_headers(tmp_path: Path, share: float) -> None:
    metadata, tensors = writer.decoder("llama", 4, 256, 4, 2, 64, 512, 256)
    raw = writer.header(metadata, tensors)
    path = tmp_path / "m.gguf"
    path.write_bytes(raw[: int(len(raw) * share)])
    fault(path)


START = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + writer.text("k")
HOSTILE = {
    "empty": b"",
    "not gguf": b"PK\x03\x04" + bytes(100),
    "version 1": b"GGUF" + struct.pack("<III", 1, 0, 0),
    "tensor count": b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0) + bytes(100),
    "pair count": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63) + bytes(100),
    "key length": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**60) + bytes(100),
    "text length": START + struct.pack("<IQ", 8, 2**60) + bytes(100),
    "array of numbers": START + struct.pack("<IIQ", 9, 4, 2**60) + bytes(100),
    "array of texts": START + struct.pack("<IIQ", 9, 8, 2**60) + bytes(100),
    "array whose texts are long": START + struct.pack("<IIQ", 9, 8, 2) + struct.pack("<Q", 2**62) + bytes(100),
    "array of arrays": START + struct.pack("<IIQ", 9, 9, 2**61) + bytes(100),
    "nested arrays": START + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 9 + bytes(100),
    "unknown value type": START + struct.pack("<I", 77) + bytes(100),
    "dimensions": b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + writer.text("t") + struct.pack("<I", 2**31) + bytes(100),
    "tensor of 2^120": b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + writer.text("t")
    + struct.pack("<IQQIQ", 2, 2**60, 2**60, 0, 0),
    "tensor of none": b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + writer.text("t") + struct.pack("<IQIQ", 1, 0, 0, 0),
    "tensor type": b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + writer.text("t") + struct.pack("<IQIQ", 1, 8, 999, 0),
    "tensor name": b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + writer.text("\x1b[2J") + struct.pack("<IQIQ", 1, 8, 0, 0),
    "no metadata": b"GGUF" + struct.pack("<IQQ", 3, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_findings(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(HOSTILE[name])
    started = time.perf_counter()
    assert "\x1b" not in fault(path)
    assert time.perf_counter() - started < 1


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    """A text of 100 MiB in a file that is long enough for it."""
    path = tmp_path / "m.gguf"
    path.write_bytes(START + struct.pack("<IQ", 8, 100 * 2**20))
    with path.open("r+b") as stream:
        stream.truncate(200 * 2**20)
    assert f"longer than {MOST_BYTES // 2**20} MiB" in fault(path)


@pytest.mark.parametrize(
    ("key", "item", "said"),
    [
        ("llama.block_count", None, "llama.block_count"),
        ("llama.embedding_length", 0, "llama.embedding_length"),
        ("llama.block_count", "many", "whole number"),
        ("llama.block_count", 3, "token_embd or no layers"),
        ("llama.block_count", 1, "beyond the 1 layers"),
        ("llama.attention.head_count_kv", 3, "do not divide"),
        ("llama.attention.head_count_kv", [1], "2 whole numbers"),
        ("general.architecture", "clip", "no decoder"),
        ("general.architecture", None, "does not say what it is"),
    ],
)
def test_what_is_missing_or_impossible_is_named(tmp_path: Path, key: str, item: Any, said: str) -> None:
    metadata, tensors = writer.decoder("llama", 2, 256, 4, 2, 64, 512, 256)
    metadata[key] = item
    metadata = {name: found for name, found in metadata.items() if found is not None}
    assert said in fault(writer.write(tmp_path / "m.gguf", metadata, tensors))


def test_a_vocabulary_of_128256_is_passed_over_in_time(tmp_path: Path) -> None:
    """Llama 3.2 1B's header: 128,256 tokens, 280,147 merges. 50 ms on a free core; a busy one gets four times that."""
    metadata, tensors = writer.decoder("llama", 16, 2048, 32, 8, 64, 8192, 128256, tied=True)
    metadata["tokenizer.ggml.tokens"] = ["t" * (1 + index % 11) for index in range(128256)]
    metadata["tokenizer.ggml.token_type"] = [1] * 128256
    metadata["tokenizer.ggml.merges"] = ["ab " * (1 + index % 4) for index in range(280147)]
    metadata["tokenizer.chat_template"] = "x" * 5000
    metadata["general.file_type"] = 1
    path = writer.write(tmp_path / "m.gguf", metadata, tensors)
    best = math.inf
    for _ in range(3):
        started = time.perf_counter()
        model, _ = read_gguf(path)
        best = min(best, time.perf_counter() - started)
    assert model is not None
    assert model.quantization == "fp16"
    assert best < 0.2
