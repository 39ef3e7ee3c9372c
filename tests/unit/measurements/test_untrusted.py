"""Files that anyone may have written: cut off, twisted, too large. Never an exception, always a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.measurements import content, read

DATA = Path(__file__).parent / "data"
SAMPLES = sorted(path.name for path in DATA.iterdir() if path.suffix != ".md")
ODD: tuple[Any, ...] = (None, True, [], {}, "x", "", -1, 0, 1e300, 10**30, float("nan"), float("inf"), [[]], {"a": {}})


def read_text(folder: Path, text: str | bytes) -> None:
    file = folder / "sample"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    found, findings = read(file, name="sample")
    assert (found is None) == bool(findings)
    for finding in findings:
        assert finding.id == "measurement-not-read"


@pytest.mark.parametrize("name", SAMPLES)
def test_cut_off_anywhere(tmp_path: Path, name: str) -> None:
    text = (DATA / name).read_text("utf-8")
    for share in range(20):
        read_text(tmp_path, text[: len(text) * share // 20])


def twisted(node: Any, depth: int = 0) -> Iterator[Any]:
    """The same tree with one value changed, for each value of the first levels and each odd value."""
    if depth > 3 or not isinstance(node, dict | list):
        return
    keys = list(node) if isinstance(node, dict) else range(min(len(node), 1))
    for key in keys:
        for odd in ODD:
            copy = dict(node) if isinstance(node, dict) else list(node)
            copy[key] = odd
            yield copy
        for below in twisted(node[key], depth + 1):
            copy = dict(node) if isinstance(node, dict) else list(node)
            copy[key] = below
            yield copy


@pytest.mark.parametrize("name", [name for name in SAMPLES if "json" in name.rpartition(".")[2]])
def test_any_value_changed(tmp_path: Path, name: str) -> None:
    first = (DATA / name).read_text("utf-8")
    tree = json.loads(first.splitlines()[0] if name.endswith("l") else first)
    tree = tree[0] if isinstance(tree, list) else tree
    small = {key: value for key, value in tree.items() if not isinstance(value, list) or len(value) < 5}
    for index, copy in enumerate(twisted(small)):
        if index > 500:
            break
        read_text(tmp_path, json.dumps(copy))


@pytest.mark.parametrize(
    "text",
    ["", "\n", "{", "[" * 100_000, '{"a":' * 50_000, "null", "[]", "[1, 2]", '"x"', "a,b\n1,2", b"\xff\xfe\x00", "\x00",
     "Metric,avg\n", "GPU KV cache size: 9 tokens" + "9" * 5000, "# GPU blocks: " + "9," * 3000, "1" * 5000],
)  # fmt: skip
def test_odd_files(tmp_path: Path, text: str | bytes) -> None:
    read_text(tmp_path, text)


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "LARGEST_BYTES", 1 << 20)
    file = tmp_path / "large.json"
    file.write_bytes(b" " * ((1 << 20) + 1))
    found, (finding,) = read(file, name="large.json")
    assert found is None and "more than 1 MiB" in finding.message


def test_a_folder_and_nothing(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        found, (finding,) = read(path, name="it")
        assert found is None and "cannot be read" in finding.message
