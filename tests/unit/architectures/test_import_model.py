"""planner import model: files into documents, and the hub through a fake client."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from planner.architectures.document import read_document
from planner.cli import cli

# meta-llama/Llama-3.2-1B's sizes, whose count the model card gives: 1,235,814,400.
CONFIG = {
    "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192, "vocab_size": 128256,
    "tie_word_embeddings": True, "torch_dtype": "bfloat16",
}  # fmt: skip
COUNT = 1_235_814_400


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["import", "model", *arguments])


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "org--mine.json"
    path.write_text(json.dumps(CONFIG))
    return path


def test_a_config_becomes_a_document(config: Path) -> None:
    result = run(str(config), "--revision", "abc")
    assert result.exit_code == 0, result.output
    document = yaml.safe_load(result.stdout)
    assert document["metadata"]["name"] == "org/mine"
    assert document["metadata"]["parameters"] == COUNT
    assert document["metadata"]["revision"] == "abc"
    assert document["metadata"]["source"] == "org--mine.json"  # no path of this machine
    assert not result.stderr
    model, findings = read_document(document)
    assert model is not None
    assert not findings
    assert model.parameters == COUNT


def test_to_a_file_with_a_name(config: Path, tmp_path: Path) -> None:
    target = tmp_path / "models" / "x.yaml"
    assert run(str(config), "-o", str(target), "--name", "me/other").exit_code == 0
    assert yaml.safe_load(target.read_text())["metadata"]["name"] == "me/other"


def test_the_same_bytes_twice(config: Path) -> None:
    assert run(str(config)).stdout_bytes == run(str(config)).stdout_bytes


def test_a_config_json_takes_its_folders_name(tmp_path: Path) -> None:
    path = tmp_path / "llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(CONFIG))
    assert yaml.safe_load(run(str(path)).stdout)["metadata"]["name"] == "llama"


def test_a_gguf_file(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("gguf_writer", Path(__file__).with_name("gguf_writer.py"))
    assert spec is not None
    assert spec.loader is not None
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    path = writer.write(
        tmp_path / "m.gguf", *writer.decoder("llama", 16, 2048, 32, 8, 64, 8192, 128256, kind="Q8_0", tied=True)
    )
    result = run(str(path), "--name", "me/gguf")
    assert result.exit_code == 0
    assert yaml.safe_load(result.stdout)["metadata"]["parameters"] == COUNT


def test_what_cannot_be_a_model_is_status_1(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({**CONFIG, "num_hidden_layers": None}))
    result = run(str(path))
    assert result.exit_code == 1
    assert not result.stdout
    assert "num_hidden_layers" in result.stderr
    assert "model-config-missing-field" in result.stderr


def test_an_unknown_type_is_written_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_text(json.dumps({**CONFIG, "model_type": "llamoid\x1b"}))
    result = run(str(path))
    assert result.exit_code == 0
    assert "warning" in result.stderr
    assert "\x1b" not in result.output


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_what_cannot_be_read_is_status_2(tmp_path: Path, name: str) -> None:
    result = run(str(tmp_path / name))
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr


class Client(ModuleType):
    """As much of huggingface_hub as is used; files of one commit in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__("huggingface_hub")
        self.folder = folder
        self.asked: list[tuple[str, str]] = []

    def HfApi(self) -> Any:  # noqa: N802
        names = sorted(path.name for path in self.folder.iterdir())
        return SimpleNamespace(
            model_info=lambda name, revision=None: SimpleNamespace(
                sha="c0ffee", siblings=[SimpleNamespace(rfilename=item) for item in names]
            )
        )

    def hf_hub_download(self, name: str, file: str, *, revision: str) -> str:
        self.asked.append((file, revision))
        return str(self.folder / file)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    folder = tmp_path / "hub"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model-00001.safetensors").write_bytes(b"never fetched")
    found = Client(folder)
    monkeypatch.setitem(sys.modules, "huggingface_hub", found)
    return found


def index(client: Client, size: int) -> None:
    (client.folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": size}}))


def test_the_hub(client: Client) -> None:
    index(client, 2 * COUNT)
    result = run("hf:org/name")
    assert result.exit_code == 0, result.output
    metadata = yaml.safe_load(result.stdout)["metadata"]
    assert metadata["name"] == "org/name"
    assert metadata["source"] == "https://huggingface.co/org/name"
    assert metadata["revision"] == "c0ffee"
    assert not result.stderr
    assert client.asked == [("config.json", "c0ffee"), ("model.safetensors.index.json", "c0ffee")]


@pytest.mark.parametrize(("share", "warns"), [(1.009, False), (0.991, False), (1.02, True), (0.5, True)])
def test_a_checkpoint_of_another_size_is_a_warning(client: Client, share: float, warns: bool) -> None:
    index(client, int(2 * COUNT * share))
    result = run("hf:org/name")
    assert result.exit_code == 0
    assert ("model-weight-bytes-differ" in result.stderr) is warns


def test_the_quantisation_beside_it(client: Client) -> None:
    (client.folder / "hf_quant_config.json").write_text(json.dumps({"quantization": {"quant_algo": "FP8"}}))
    assert "fp8" in run("hf:org/name").stdout


@pytest.mark.parametrize("content", ["[]", "not json", '{"metadata": {"total_size": "large"}}', "{}"])
def test_an_index_that_says_nothing(client: Client, content: str) -> None:
    (client.folder / "model.safetensors.index.json").write_text(content)
    assert run("hf:org/name").exit_code == 0


def test_a_repository_without_a_config(client: Client) -> None:
    (client.folder / "config.json").unlink()
    result = run("hf:org/name")
    assert result.exit_code == 2
    assert "holds no config.json" in result.stderr


def test_a_client_that_fails(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> str:
        raise OSError("no route to host\x1b[31m\nmore")

    monkeypatch.setattr(client, "hf_hub_download", fails)
    result = run("hf:org/name")
    assert result.exit_code == 2
    assert "no route to host" in result.stderr
    assert "\x1b" not in result.stderr


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    result = run("hf:org/name")
    assert result.exit_code == 2
    assert "inference-planner[hub]" in result.stderr


def test_help_imports_no_command() -> None:
    result = CliRunner().invoke(cli, ["import", "--help"])
    assert result.exit_code == 0
    assert "model" in result.output
