"""`planner check --format json` is what schema/v1/result.schema.json says, and every key of it is described there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import Result

Write = Callable[..., str]
Planner = Callable[..., Result]
SCHEMA = Path(__file__).parents[3] / "schema" / "v1" / "result.schema.json"
KINDS = ("feasible", "at-risk", "unproven", "too-big", "too-slow", "invalid", "expected", "unexpected")


def closed(node: Any) -> Any:
    """The schema with every described object closed: a key that it does not describe fails."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {key: closed(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found


def result_of(planner: Planner, *arguments: str) -> dict[str, Any]:
    document = json.loads(planner("check", "--format", "json", *arguments).stdout)
    jsonschema.validate(document, closed(json.loads(SCHEMA.read_text("utf-8"))), jsonschema.Draft202012Validator)
    result: dict[str, Any] = document["results"][0]
    return result


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_as_the_schema_says(kind: str, write: Write, planner: Planner) -> None:
    assert result_of(planner, write(kind))["spec"]["path"] == f"specs/{kind}.yaml"


def test_so_is_that_of_a_missing_file(planner: Planner) -> None:
    result = result_of(planner, "specs/no-such.yaml")
    assert (result["verdict"], result["findings"][0]["id"]) == ("invalid", "file-not-found")


def test_so_are_several_levers_and_classes(write: Write, planner: Planner) -> None:
    classes = (
        "workload={load: {concurrency: 16}, classes: [{name: a, share: 0.5, prompt_tokens: 1000, output_tokens: 100}, "
        "{name: b, share: 0.5, prompt_tokens: 2000, output_tokens: 200}]}"
    )
    levers = "levers=[{use: quantize-kv-cache, format: fp8, status: consider}, {use: quantize-weights, format: int8}]"
    result = result_of(planner, "--set", f"/{classes}", "--set", f"/{levers}", write("at-risk"))
    assert {"quantize-kv-cache", "quantize-weights"} <= {item["use"] for item in result["levers"]}
    assert sorted(result["shipped"]["classes"]) == ["a", "b"]


def test_figures_are_the_textbook_s(write: Write, planner: Planner) -> None:
    """7e9 x 2 bytes = 14e9; 32 x 2 x 8 x 128 x 2 = 131,072 bytes a token; x 8192 x 16 = 17,179,869,184."""
    result = result_of(planner, write("feasible"))
    shipped = result["shipped"]
    assert result["model"]["parameters"] == 7_000_000_000
    assert result["model"]["kv_bytes_per_token"] == 131_072
    assert result["model"]["weights_bytes"] == 14_000_000_000
    assert shipped["memory"]["kv_cache_bytes"] == 17_179_869_184
    assert shipped["memory"]["fits"] is True
    assert shipped["latency"]["decode_step_s"] == pytest.approx(31.179869184e-3)  # 31.18 GB at 1 TB/s
    assert shipped["throughput"]["output_tokens_per_s"] == pytest.approx(16 / 31.179869184e-3)
    assert shipped["cost"]["usd_per_hour"] == 2.0
    # 2 USD/hour over 513.15 tokens/s: 2 / (513.15 x 3600) x 1e6
    assert shipped["cost"]["usd_per_million_output_tokens"] == pytest.approx(2 / (16 / 31.179869184e-3 * 3600) * 1e6)


def test_an_infeasible_spec_keeps_its_figures(write: Write, planner: Planner) -> None:
    """64 sequences: 14e9 + 4 x 17,179,869,184 bytes at 1 TB/s."""
    shipped = result_of(planner, write("too-big"))["shipped"]
    assert shipped["memory"]["fits"] is False
    assert shipped["latency"]["decode_step_s"] == pytest.approx((14e9 + 4 * 17_179_869_184) / 1e12)


def test_only_an_invalid_spec_has_no_figures(write: Write, planner: Planner) -> None:
    for kind in KINDS:
        result = result_of(planner, write(kind))
        missing = [key for key in ("model", "shipped", "baseline", "accelerators", "replicas") if result[key] is None]
        assert bool(missing) is (result["verdict"] == "invalid"), kind


def test_findings_say_where(write: Write, planner: Planner) -> None:
    finding = result_of(planner, write("invalid"))["findings"][0]
    assert finding["id"] == "unit-error"
    assert finding["path"] == "/hardware/accelerator/memory"
    assert (finding["file"], finding["line"]) == ("specs/invalid.yaml", 8)  # the eighth line of the text
    assert finding["column"] == len("  accelerator: {memory: ") + 1


def test_an_adopted_lever_carries_what_must_be_evaluated(write: Write, planner: Planner) -> None:
    levers = result_of(planner, write("unproven"))["levers"]
    quantised = next(item for item in levers if item["use"] == "quantize-weights")
    assert quantised["source"] == "model-key"
    assert quantised["class"] == "output-changing"
    assert quantised["effect"]["weights_bytes"] == pytest.approx(-0.5)  # 16 bits to 8
    assert {item["evidence"] for item in quantised["obligations"]} == {"missing"}
