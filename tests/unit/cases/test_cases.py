"""Public cases: a spec, the verdict that was observed, and the numbers that the report of it gives.

A folder of tests/cases holds specs and an expected.yaml: `specs` says what is expected of each, `numbers` names a
figure, the place it is found at in the result of a spec (`spec#shipped.memory.weights_bytes`, or a finding's values:
`spec#finding:engine-tensor-parallel.valid_tp`), and the interval that the case demands. `pending` says what the
planner lacks for it: a strict expected failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.output.json import result_of
from planner.pipeline import judge_file

CASES = Path(__file__).parents[2] / "cases"
TODAY = "2026-01-01"
SCALES = {"GiB": 2.0**30, "KiB": 2.0**10, "GB": 1e9, "M tokens": 1e6}
"""Of the units that are not what results are in (bytes, seconds, tokens, USD)."""


@lru_cache(maxsize=256)
def result(case: str, spec: str) -> dict[str, Any]:
    return result_of(judge_file(CASES / case / f"{spec}.yaml", display=f"{spec}.yaml", today=TODAY))


def expected(case: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((case / "expected.yaml").read_text(encoding="utf-8"))
    return found


def params(key: str) -> list[Any]:
    """One parameter set for each spec or number of every case."""
    found: list[Any] = []
    for case in sorted(path for path in CASES.iterdir() if path.is_dir()):
        items = expected(case).get(key) or ()
        named = items.items() if isinstance(items, Mapping) else ((item["name"], item) for item in items)
        for name, item in named:
            pending = item.get("pending")
            marks = [pytest.mark.xfail(strict=True, reason=f"needs {pending}")] if pending else []
            found.append(pytest.param(case.name, name, item, marks=marks, id=f"{case.name}-{name}"))
    return found


def at(case: str, place: str) -> Any:
    """The value at `spec#path.of.keys`; `finding:<id>` as the first key is that finding's values."""
    spec, _, path = place.rpartition("#")
    node: Any = result(case, spec or "spec")
    for step in path.split("."):
        if step.startswith("finding:"):
            named = [item for item in node["findings"] if item["id"] == step.removeprefix("finding:")]
            assert named, f"no finding {step}: {[item['id'] for item in node['findings']]}"
            node = {key: value for item in reversed(named) for key, value in item["values"].items()}
        else:
            node = node[step]
    return node


def number(case: str, item: Mapping[str, Any]) -> float:
    """The figure at `where`, over that at `over`, times `times`, in the unit of the case."""
    value = float(at(case, item["where"]))
    if "over" in item:
        value /= float(at(case, item["over"]))
    times = item.get("times", 1)
    value *= float(at(case, times)) if isinstance(times, str) else float(times)
    return value if "over" in item else value / SCALES.get(item.get("unit", ""), 1.0)


@pytest.mark.parametrize(("case", "spec", "item"), params("specs"))
def test_verdict(case: str, spec: str, item: dict[str, Any]) -> None:
    found = result(case, spec)
    said = {finding["id"]: finding["severity"] for finding in found["findings"]}
    assert found["verdict"] in item["verdict"].split("|"), found["findings"]
    assert set(item.get("findings", ())) <= set(said)
    assert not set(item.get("absent", ())) & set(said)
    if item.get("warns"):
        assert said[item["warns"]] == "warning"


@pytest.mark.parametrize(("case", "name", "item"), params("numbers"))
def test_number(case: str, name: str, item: dict[str, Any]) -> None:
    if "set" in item:
        assert [value for value in at(case, item["where"]) if value <= item.get("upto", value)] == item["set"]
    else:
        assert item["lo"] <= number(case, item) <= item["hi"]


def test_all_thirty_are_here() -> None:
    numbers = {case.name[:4] for case in CASES.iterdir() if case.is_dir()}
    assert {f"pb{index:02d}" for index in range(1, 31)} <= numbers
