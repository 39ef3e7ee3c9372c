"""The published schemas: valid, current, described, and of one mind with the code."""

# ruff: noqa: E501

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry

from planner import contract, engines, levers, schema_composer
from planner.source.document import Document

KINDS = schema_composer.kinds()


def published(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(schema_composer.file_of(kind).read_text(encoding="utf-8"))
    return found


def test_the_kinds() -> None:
    assert {"accelerator", "base", "deployment", "model", "project", "result"} <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_a_schema_and_stands_alone(kind: str) -> None:
    schema = published(kind)
    Draft202012Validator.check_schema(schema)
    names = set(schema_composer.references(schema))
    assert names <= set(schema["$defs"])


def test_the_committed_files_are_current() -> None:
    assert schema_composer.stale() == ()


def test_a_changed_file_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(kind: str) -> Path:
        return tmp_path / f"{kind}.schema.json"

    monkeypatch.setattr(schema_composer, "file_of", elsewhere)
    assert len(schema_composer.write()) == len(KINDS)
    assert schema_composer.stale() == ()
    elsewhere("base").write_text(schema_composer.text("base").replace("planner/v1", "planner/v2"), encoding="utf-8")
    assert schema_composer.stale() == ("base.schema.json",)
    assert schema_composer.write() == ("base.schema.json",)


def described(schema: Any, definitions: dict[str, Any]) -> bool:
    if schema in (True, False):
        return True
    target = definitions.get(schema.get("$ref", "").removeprefix("#/$defs/"))
    return "description" in schema or (target is not None and described(target, definitions))


def properties(node: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "properties":
                yield from ((f"{at}/{name}", schema) for name, schema in value.items())
            if key not in ("if", "examples"):
                yield from properties(value, f"{at}/{key}")
    elif isinstance(node, list):
        for value in node:
            yield from properties(value, at)


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_is_described(kind: str) -> None:
    schema = published(kind)
    assert [name for name, part in properties(schema) if not described(part, schema["$defs"])] == []


def test_examples_are_right() -> None:
    schema = published("deployment")
    for name, definition in schema["$defs"].items():
        validator = Draft202012Validator({**definition, "$defs": schema["$defs"]}, registry=Registry())
        for example in definition.get("examples", ()):
            assert [error.message for error in validator.iter_errors(example)] == [], name


LEVER_VALUES: list[Any] = [
    None, True, 0, 1, 4, 1.5, -1, "fp8", "int8", "x", "draft_model", "on-demand", "5 s", "7", [], [0.8, 0.7], [2],
    {}, {"ref": "a/b"}, {"ref": "a", "config": "b"}, {"every": 2}, {"engine": {"max_model_len": 8}},
    {"engine": {"max_modle_len": 8}}, {"engine": {"max_num_seqs": None}}, {"hardware": {"count": "x"}}, {"levers": []},
]  # fmt: skip
ENGINE_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    0.5,
    1.5,
    -1,
    "auto",
    "fp8",
    "0.11",
    "90 %",
    "8k",
    [],
    {},
    {"image": 1},
]


def agree(section: str, item: dict[str, Any], validator: Draft202012Validator) -> tuple[bool, bool]:
    """(whether the code accepts it, whether the published schema does)"""
    data = {"apiVersion": "planner/v1", "kind": "Deployment", section: [item] if section == "levers" else item}
    found = contract.shape.problems(data, "Deployment")
    mine = [problem for problem in found if problem.path[:1] == (section,)]
    return not mine, validator.is_valid(item)


def part(definition: str) -> Draft202012Validator:
    schema = published("deployment")
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}, registry=Registry())


def lever_samples(module: Any, shuffle: random.Random) -> Iterator[dict[str, Any]]:
    keys = [*module.PROPERTIES, "status", "reason", "name", "evidence", "unknown"]
    right = {
        "format": "fp8",
        "method": "ngram",
        "num_speculative_tokens": 4,
        "window": 512,
        "selected_tokens": 64,
        "name": "n",
    }
    right |= {key: {"engine": {"max_model_len": 8}} for key in ("set", "prefill", "decode")}
    whole = {"use": module.NAME, **{key: right[key] for key in module.REQUIRED if key in right}}
    yield whole
    yield {"use": module.NAME}
    for key, value in itertools.product(keys, LEVER_VALUES):
        yield {**whole, key: value}
    for _ in range(50):
        yield {**whole, **{key: shuffle.choice(LEVER_VALUES) for key in shuffle.sample(keys, min(3, len(keys)))}}


@pytest.mark.parametrize("module", levers.all_levers(), ids=lambda module: module.NAME)
def test_code_and_schema_agree_on_levers(module: Any) -> None:
    validator = part("lever")
    verdicts = []
    for item in lever_samples(module, random.Random(1)):
        code, schema = agree("levers", item, validator)
        assert code == schema, item
        verdicts.append(code)
    assert any(verdicts)
    assert not all(verdicts)


@pytest.mark.parametrize("name", [*engines.names(), "vlmm", None])
def test_code_and_schema_agree_on_engines(name: str | None) -> None:
    validator = part("engine")
    own = {key for known in engines.names() for key in schema_composer.engine_properties(engines.get(known))}
    keys = [*contract.schemas.engine_keys(), *sorted(own), "unknown"]
    for key, value in itertools.product(keys, ENGINE_VALUES):
        item = {**({} if name is None else {"name": name}), **({key: value} if key != "name" else {})}
        code, schema = agree("engine", item, validator)
        assert code == schema, item


@pytest.mark.parametrize("kind", ["deployment", "base"])
def test_whole_documents_agree(kind: str, spec: str) -> None:
    """The published schema alone, with no code beside it, refuses what the code refuses for its shape."""
    validator = Draft202012Validator(published(kind), registry=Registry())
    data = {"apiVersion": "planner/v1", "kind": kind.title(), "metadata": {"name": "a"}, "model": {"ref": "a"}}
    data |= {"hardware": {"accelerator": "l4"}, "engine": {"name": "ideal"}}
    data |= {"workload": {"load": {"concurrency": 1}, "classes": [{"name": "a", "context_tokens": 1}]}}
    assert validator.is_valid(data)
    for section, change in [
        ("model", {"ref": "a", "config": "b"}), ("model", {}), ("model", {"reff": "a"}), ("hardware", {"accelerator": 1}),
        ("hardware", {"accelerator": {"memory": "80 Gb", "bandwidth": "1 TB/s"}}), ("hardware", {"accelerator": {"ref": "a"}}),
        ("hardware", {"accelerator": "a", "price": "2"}), ("engine", {"name": "ideal", "args": 1}),
        ("workload", {"classes": []}), ("workload", {"load": {"rate": "4"}, "classes": [{"name": "a"}]}),
        ("objectives", {"cost": {"max": "3 USD/token"}}), ("objectives", {"rejected_requests": {"max": "0.1 %"}}),
        ("waivers", [{"finding": "a"}]), ("metadata", {"name": "A"}),
    ]:  # fmt: skip
        changed = {**data, section: change}
        problems = list(contract.shape.problems(changed, kind.title()))
        assert validator.is_valid(changed) == (not problems), (section, change, problems)


def test_a_quantity_is_checked_by_its_unit_once() -> None:
    document = Document(
        "a", Path(), Path(), {"apiVersion": "planner/v1", "kind": "Base", "hardware": {"reserved": "4 Gb"}}
    )
    assert [item.id for item in contract.validate(document)] == ["unit-error"]
