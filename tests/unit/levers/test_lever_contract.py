"""What every lever module has: the contract in `planner.levers`."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, get_args

import jsonschema
import pytest
import yaml

from planner import levers, schema_composer
from planner.domain.levers import LeverClass
from planner.levers import change

COSTS = {"weight memory", "cache memory", "bandwidth", "arithmetic"}
EVIDENCE = {"equality", "task", "long-form", "long-context", "latency", "acceptance", "hit-rate"}
ITEM_KEYS = {"use", "name", "status", "reason", "evidence"}
MODULES = levers.all_levers()

PRESERVING = [
    "continuous-batching",
    "exact-attention-kernel",
    "cuda-graphs",
    "chunked-prefill",
    "prefix-caching",
    "speculative-decoding",
    "kv-offload",
    "disaggregated-prefill",
    "admission-policy",
]
CHANGING = [
    "quantize-weights",
    "quantize-kv-cache",
    "change",
    "sliding-window-attention",
    "sparse-attention",
    "lossy-acceptance",
]


def test_the_order_is_the_planners_own() -> None:
    def ordered(of_class: str) -> list[str]:
        return [module.NAME for module in sorted(MODULES, key=lambda module: module.ORDER) if of_class == module.CLASS]

    assert ordered("output-preserving") == PRESERVING
    assert ordered("output-changing") == CHANGING


def test_names_and_orders_are_unique() -> None:
    assert len({module.NAME for module in MODULES}) == len(MODULES)
    assert len({module.ORDER for module in MODULES}) == len(MODULES)
    assert tuple(sorted(module.NAME for module in MODULES)) == tuple(sorted(levers.names()))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.NAME)
class TestEachLever:
    def test_is_found_by_its_name(self, module: ModuleType) -> None:
        assert module.__name__.rsplit(".", 1)[1] == module.NAME.replace("-", "_")
        assert levers.get(module.NAME) is module

    def test_declares_itself(self, module: ModuleType) -> None:
        assert module.CLASS in get_args(LeverClass)
        assert set(module.REDUCES) <= COSTS
        assert isinstance(getattr(module, "SIMULATED", False), bool)
        assert module.EVALUATE, "every lever obliges to evaluate something"
        assert {kind for kind, _ in module.EVALUATE} <= EVIDENCE
        assert all(text.endswith(".") for _, text in module.EVALUATE)

    def test_its_obligations_fit_its_class(self, module: ModuleType) -> None:
        kinds = {kind for kind, _ in module.EVALUATE}
        if module.CLASS == "output-changing":
            assert "task" in kinds
        elif module.NAME != "admission-policy":
            assert "equality" in kinds

    def test_its_docstring_reads_as_documentation(self, module: ModuleType) -> None:
        text = module.__doc__ or ""
        assert len(text.split()) > 60
        for part in ("spend", "It does nothing", "move"):
            assert part in text, f"the docstring does not say what it {part}s"

    def test_its_example_is_one_valid_item(self, module: ModuleType) -> None:
        (item,) = yaml.safe_load(module.EXAMPLE)
        assert item["use"] == module.NAME
        own = {key: value for key, value in item.items() if key not in ITEM_KEYS}
        schema = {
            "type": "object",
            "properties": module.PROPERTIES,
            "required": [key for key in module.REQUIRED if key not in ITEM_KEYS],
            "additionalProperties": False,
            "$defs": _definitions(),
        }
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(own)
        assert set(module.REQUIRED) <= set(item)

    def test_its_parameters_are_described(self, module: ModuleType) -> None:
        for name, schema in _parameters(module.PROPERTIES):
            assert schema.get("description"), f"{name} has no description"

    def test_its_interactions_name_levers(self, module: ModuleType) -> None:
        for other, why in module.INTERACTS:
            assert other in levers.names()
            assert other != module.NAME
            assert why
            assert module.NAME not in {name for name, _ in levers.get(other).INTERACTS}, "a pair is stated once"


@cache
def _definitions() -> dict[str, Any]:
    """What the parameters may refer to: the definitions of a deployment."""
    found: dict[str, Any] = schema_composer.compose("deployment")["$defs"]
    return found


def _parameters(properties: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = list(properties.items())
    for schema in properties.values():
        found += _parameters(schema.get("properties", {}))
    return found


def test_interactions_come_from_either_side() -> None:
    pairs = {(one, other) for one, other, _ in levers.interactions(["quantize-weights", "speculative-decoding"])}
    assert pairs == {("speculative-decoding", "quantize-weights")}
    assert levers.interactions(["prefix-caching"]) == ()
    # What current engines turn on together does not deserve a warning.
    usual = ["continuous-batching", "exact-attention-kernel", "cuda-graphs", "chunked-prefill", "prefix-caching"]
    assert levers.interactions(usual) == ()


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({"engine": {"tensor_parallel_size": 2}}, "output-preserving"),
        ({"engine": {"kv_cache_dtype": "fp8"}}, "output-changing"),
        ({"engine": {"kv_cache_dtype": "bf16"}}, "output-preserving"),
        ({"engine": {"kv_cache_dtype": "auto"}}, "output-preserving"),
        ({"model": {"ref": "a/b"}}, "output-changing"),
        ({"workload": {"load": {"concurrency": 8}}}, "requirement-changing"),
        ({"objectives": {}}, "requirement-changing"),
        ({"hardware": {"count": 8}}, "requirement-changing"),
        # The furthest reaching of several.
        ({"engine": {}, "model": {}}, "output-changing"),
        ({"model": {}, "hardware": {}}, "requirement-changing"),
        ({}, "output-preserving"),
    ],
)
def test_the_class_of_a_change(sections: dict[str, Any], expected: str) -> None:
    assert change.lever_class(sections) == expected


def test_a_change_of_the_engine_asks_for_no_task_evaluation() -> None:
    assert {kind for kind, _ in change.evaluate("output-preserving")} == {"equality"}
    assert {kind for kind, _ in change.evaluate("output-changing")} == {"task", "long-form"}
    assert {kind for kind, _ in change.evaluate("requirement-changing")} == {"requirement"}
