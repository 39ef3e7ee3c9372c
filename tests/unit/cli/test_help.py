"""Help pages: each ends with examples, which run as they stand, and fits the terminal."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from planner.cli import cli

Planner = Callable[..., Result]
ROOT = Path(__file__).parents[3]


def _pages(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _pages(below, (*words, name))


PAGES = tuple(_pages(cli))


def _page(words: tuple[str, ...], columns: int = 80) -> str:
    found = CliRunner().invoke(cli, [*words, "--help"], prog_name="planner", terminal_width=columns)
    assert found.exit_code == 0
    return found.stdout


def _examples(words: tuple[str, ...]) -> list[str]:
    """The commands after `Example:` or below `Examples:`, the last thing on the page."""
    _, found, after = _page(words).rpartition("Example")
    assert found, words
    return [line.strip() for line in after.partition(":")[2].splitlines() if line.strip()]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the examples name: a project with the specs of this repository, a config.json, a measurement."""
    (tmp_path / "planner.yaml").write_text("apiVersion: planner/v1\nkind: Project\n", "utf-8")
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    config = (
        '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "vocab_size": 32000,'
        ' "num_attention_heads": 32, "num_hidden_layers": 32, "intermediate_size": 11008, "torch_dtype": "float16"}'
    )
    (tmp_path / "config.json").write_text(config, "utf-8")
    measured = (
        "{apiVersion: planner/v1, kind: Measurement, metadata: {name: bench}, date: 2026-10-02, source: a test,"
        " subject: {accelerator: h100-sxm}, runs: [{load: {concurrency: 16}, prompt_tokens: 900, output_tokens: 300,"
        " inter_token_latency: {mean: 18 ms}}]}\n"
    )
    (tmp_path / "bench.yaml").write_text(measured, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANNER_TODAY", "2026-06-01")
    return tmp_path


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_example_runs(words: tuple[str, ...], checkout: Path) -> None:
    examples = _examples(words)
    assert examples
    for example in examples:
        assert example.startswith(" ".join(("planner", *words)))
        found = CliRunner().invoke(cli, shlex.split(example)[1:], prog_name="planner")
        assert found.exit_code == 0, (example, found.output)


@pytest.mark.parametrize("columns", [80, 60])
@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_page_fits(words: tuple[str, ...], columns: int) -> None:
    assert max(map(len, _page(words, columns).splitlines())) <= columns


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_option_is_described(words: tuple[str, ...]) -> None:
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    assert command.help
    for parameter in command.params:
        assert not isinstance(parameter, click.Option) or parameter.help, parameter.opts


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_page_is_plain_ascii(words: tuple[str, ...]) -> None:
    """Help is printed in the terminal's own encoding, whichever that is."""
    assert _page(words).isascii()
