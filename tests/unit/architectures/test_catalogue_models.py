"""The packaged models: each reads, says where it is from, and has the count that its publisher gives."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from planner import catalogue, contract
from planner.architectures.document import read_document
from planner.cli import cli
from planner.domain import shards
from planner.domain.model import Model
from planner.source.document import Document

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "models"
NAMES = catalogue.model_ids()


def model(name: str) -> Model:
    document = catalogue.entry("models", name)
    assert document is not None, name
    found, findings = read_document(document)
    assert found is not None, findings
    assert not findings, name  # the count of metadata is the sum of the weights
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_is_valid_and_says_its_source(name: str) -> None:
    document = catalogue.entry("models", name)
    assert document is not None
    assert not contract.validate(Document(f"{name}.yaml", Path(), Path(), document))
    metadata = document["metadata"]
    assert metadata["name"] == name
    assert all(metadata.get(key) for key in ("family", "source", "licence", "fidelity", "parameters"))
    assert model(name).layers > 0


def test_files_are_small() -> None:
    folder = Path(catalogue.__file__).parent / "models"
    files = sorted(path.stat().st_size for path in folder.glob("*.yaml"))
    assert files[-1] < 16_000
    assert files[len(files) // 2] < 4_000


# What publishers say: model cards, papers, and safetensors totals of the hub.
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", 8_030_261_248),
        ("meta-llama/Llama-3.1-70B-Instruct", 70_553_706_496),
        ("meta-llama/Llama-3.2-1B-Instruct", 1_235_814_400),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 46_702_792_704),
        ("Qwen/Qwen2.5-VL-7B-Instruct", 8_292_166_656),
        ("openvla/openvla-7b", 7_541_237_184),
        ("openai-community/gpt2", 124_439_808),
    ],
)
def test_published_counts(name: str, parameters: int) -> None:
    assert model(name).parameters == parameters


# Hand arithmetic: layers x 2 x KV heads x head dim x 2 bytes; of a latent, layers x (rank + rotary) x 2.
@pytest.mark.parametrize(
    ("name", "cached"),
    [
        ("meta-llama/Llama-3.1-70B-Instruct", 80 * 2 * 8 * 128 * 2),
        ("meta-llama/Llama-3.2-1B-Instruct", 16 * 2 * 8 * 64 * 2),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 32 * 2 * 8 * 128 * 2),
        ("openvla/openvla-7b", 32 * 2 * 32 * 128 * 2),
        ("deepseek-ai/DeepSeek-V3", 61 * 576 * 2),
    ],
)
def test_cache_of_a_token(name: str, cached: int) -> None:
    assert shards.kv_bytes_per_token(model(name)) == cached


def test_gpt_oss_is_65_gb() -> None:
    assert shards.weight_bytes(model("openai/gpt-oss-120b")) == pytest.approx(65.2e9, rel=0.01)


def test_reconstructed_files_say_so() -> None:
    for name in ("Qwen/Qwen3-4B", "Qwen/Qwen3-14B", "Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-3B-Instruct",
                 "Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen2.5-32B-Instruct", "Qwen/Qwen1.5-7B-Chat"):  # fmt: skip
        document = catalogue.entry("models", name)
        assert document is not None
        assert document["metadata"]["fidelity"] == "reconstructed"
        assert any("no copy of the published file" in note for note in document["metadata"]["notes"])


@pytest.mark.skipif(not DATA.is_dir(), reason="the source tables are not beside the repository")
def test_every_model_of_the_table_has_its_count() -> None:
    """Main parameters and towers as the table gives them, which were counted apart from this code."""
    with (DATA / "INDEX.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["hf_id"] for row in rows} <= set(NAMES)
    for row in rows:
        counted = float(row["main_params_computed"] or row["total_params"]) + float(row["vision_audio_params"] or 0)
        assert model(row["hf_id"]).parameters == pytest.approx(counted, rel=0.001), row["hf_id"]


def show(name: str, *more: str) -> str:
    result = CliRunner().invoke(cli, ["catalog", "show", name, *more])
    assert result.exit_code == 0, result.output
    return result.output


def test_show_prints_counts_cache_and_layers() -> None:
    printed = show("deepseek-ai/DeepSeek-V3")
    for part in (
        "671,026,419,200",
        "70,272 bytes a token in bf16",  # 61 x 576 x 2
        "0-2 (3 layers",
        "3-60 (58 layers",
        "256 experts 2,048 wide, 8 used, a shared one 2,048 wide",
        "prediction layers",
        "latent cache of 576 values a token",
        "source",
        "licence",
    ):
        assert part in printed, part


def test_show_tells_windows_and_state() -> None:
    # 62 layers x 2 x 16 heads x 128 x 2 bytes, 52 of them in windows
    assert "507,904 bytes a token in bf16, 425,984 of them only within a window" in show("google/gemma-3-27b-it")
    assert "a sequence, whatever its length" in show("nvidia/NVIDIA-Nemotron-Nano-9B-v2")


def test_show_as_json_has_the_figures() -> None:
    figures = yaml.safe_load(show("openvla/openvla-7b", "--format", "json"))["figures"]
    assert figures["parameters"] == 7_541_237_184
    assert figures["kv_bytes_per_token"] == 524_288
