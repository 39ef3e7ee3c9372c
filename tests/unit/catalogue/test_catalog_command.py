"""planner catalog list and show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from planner.cli.catalog import catalog


def run(*arguments: str) -> Result:
    return CliRunner().invoke(catalog, arguments)


def test_list_prints_every_accelerator_with_gib_and_gb() -> None:
    result = run("list", "accelerators")
    assert result.exit_code == 0
    line = next(line for line in result.output.splitlines() if line.split()[:1] == ["h100-sxm"])
    assert "79.1 GiB (84.9 GB)" in line  # 79.11 x 1.073741824 = 84.94
    assert "6.88 USD/hour" in line
    assert "2026-07-20" in line


def test_list_as_json() -> None:
    result = run("list", "--format", "json")
    assert result.exit_code == 0
    found = json.loads(result.output)
    assert set(found) == {"accelerators", "models", "engines", "levers"}
    assert {row["name"] for row in found["levers"]} >= {"prefix-caching", "quantize-weights"}
    assert not [row for rows in found.values() for row in rows if "error" in row]


def test_show_prints_figures_sources_prices_and_disagreements() -> None:
    result = run("show", "H100-SXM")
    assert result.exit_code == 0
    for part in (
        "80 GB = 80.00 GiB (85.90 GB)",
        "81559 MiB = 79.65 GiB (85.52 GB)",
        "989.5 TFLOP/s",
        "stas00/ml-engineering@744d01e",
        "2026-07-20",
        "GenZ 3400",
    ):
        assert part in result.output


def test_show_as_json() -> None:
    found = json.loads(run("show", "t4", "--format", "json").output)
    assert found["accelerator"]["memory"]["driver"] == "15360 MiB"
    assert len(found["digest"]) == 64


@pytest.mark.parametrize("name", ["prefix-caching", "vllm"])
def test_show_a_lever_and_an_engine(name: str) -> None:
    result = run("show", name)
    assert result.exit_code == 0
    assert name in result.output


def test_an_unknown_name_suggests_and_exits_2() -> None:
    result = run("show", "h100sxm")
    assert result.exit_code == 2
    assert "h100-sxm" in result.output


def test_what_a_projects_file_says_reaches_no_terminal_unescaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planner.yaml").write_text(
        "apiVersion: planner/v1\nkind: Project\ncatalogue: [cards]\n", encoding="utf-8"
    )
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "odd.yaml").write_text(
        "apiVersion: planner/v1\nkind: Accelerator\nmetadata: {name: odd}\n"
        'accelerator: {name: "left\\u202eright", memory: 10 GB, bandwidth: 1 TB/s}\nsources: ["x\\u202ey"]\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    for arguments in (("list",), ("show", "odd"), ("show", "odd", "--format", "json")):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        assert "odd" in result.output
        assert "\u202e" not in result.output


def test_a_projects_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "planner.yaml").write_text(
        "apiVersion: planner/v1\nkind: Project\ncatalogue: [cards]\n", encoding="utf-8"
    )
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "odd.yaml").write_text("kind: Accelerator\na: [\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = run("show", "odd")
    assert result.exit_code == 2
    assert "odd.yaml:" in result.output
    listed = run("list", "accelerators")
    assert listed.exit_code == 0
    assert "odd.yaml:" in listed.output
