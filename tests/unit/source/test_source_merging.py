"""Laying one document over another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner import source
from planner.findings import Finding, Location

FOLDER = Path(__file__).parent


def parsed(text: str, file: str = "base.yaml") -> source.Document:
    document, findings = source.parse(text, file=file, folder=FOLDER)
    assert findings == () and document is not None
    return document


def merged(base: str, overlay: str) -> Any:
    return source.merge(parsed(base), parsed(overlay).data).data


@pytest.mark.parametrize(
    ("base", "overlay", "result"),
    [
        ("a: {x: 1, y: 2}", "a: {y: 3}", {"a": {"x": 1, "y": 3}}),
        ("a: 1", "b: 2", {"a": 1, "b": 2}),
        ("a: {x: 1}", "a: 2", {"a": 2}),
        ("a: 2", "a: {x: 1}", {"a": {"x": 1}}),
        ("a: [1, 2]", "a: [3]", {"a": [3]}),
        ("a: {x: 1, y: 2}", "a: {x: null}", {"a": {"y": 2}}),
        ("a: 1", "b: {x: null, y: 1}", {"a": 1, "b": {"y": 1}}),
        ("a: {x: 1}", "{}", {"a": {"x": 1}}),
        # lists of named items
        (
            "classes: [{name: a, share: 0.5}, {name: b}]",
            "classes: [{name: c}, {name: a, share: 1}]",
            {"classes": [{"name": "a", "share": 1}, {"name": "b"}, {"name": "c"}]},
        ),
        (
            "levers: [{use: x, format: fp8}, {use: change, name: n, set: {a: 1}}]",
            "levers: [{use: x, status: reject}, {use: change, name: n, set: {b: 2}}]",
            {
                "levers": [
                    {"use": "x", "format": "fp8", "status": "reject"},
                    {"use": "change", "name": "n", "set": {"a": 1, "b": 2}},
                ]
            },
        ),
        ("a: [{name: x}, 1]", "a: [{name: x, y: 1}]", {"a": [{"name": "x", "y": 1}]}),
        ("a: [{name: x}]", "a: []", {"a": []}),
        ("a: [{name: x, k: 1}, {name: x, k: 2}]", "a: [{name: x}]", {"a": [{"name": "x"}]}),
        # maps of alternatives
        ("load: {concurrency: 64}", "load: {rate: 4 request/s}", {"load": {"rate": "4 request/s"}}),
        (
            "classes: [{name: a, prompt_tokens: {p50: 1, p95: 2}, output_tokens: 9}]",
            "classes: [{name: a, prompt_tokens: {max: 3}}]",
            {"classes": [{"name": "a", "prompt_tokens": {"max": 3}, "output_tokens": 9}]},
        ),
        (
            "c: [{name: a, prefix: {shared_tokens: 8}}]",
            "c: [{name: a, prefix: {hit_rate: 0.5}}]",
            {"c": [{"name": "a", "prefix": {"hit_rate": 0.5}}]},
        ),
        # the model's source
        (
            "model: {ref: a/b, revision: c0ffee, weights: fp8}",
            "model: {config: ./config.json}",
            {"model": {"weights": "fp8", "config": "./config.json"}},
        ),
        ("model: {ref: a/b, revision: c0ffee}", "model: {ref: c/d}", {"model": {"ref": "c/d"}}),
        ("model: {ref: a/b}", "model: {revision: c0ffee}", {"model": {"ref": "a/b", "revision": "c0ffee"}}),
        (
            "model: {architecture: {layers: 1, x: 2}}",
            "model: {architecture: {layers: 3}}",
            {"model": {"architecture": {"layers": 3}}},
        ),
        (
            "l: [{use: s, draft: {ref: a/b}}]",
            "l: [{use: s, draft: {config: c.json}}]",
            {"l": [{"use": "s", "draft": {"config": "c.json"}}]},
        ),
        # the figures of an accelerator are corrected in place
        (
            "accelerator: {ref: a, memory: 1 GB}",
            "accelerator: {memory: 2 GB}",
            {"accelerator": {"ref": "a", "memory": "2 GB"}},
        ),
    ],
)
def test_rules(base: str, overlay: str, result: Any) -> None:
    assert merged(base, overlay) == result


def test_an_overlay_of_the_document_itself_keeps_its_lines() -> None:
    document = parsed("engine: {a: 1, b: 2}\nlevers:\n  - use: change\n    set:\n      engine:\n        b: 3\n")
    changed = source.merge(document, document.data["levers"][0]["set"], written_at=("levers", 0, "set"))
    assert changed.data["engine"] == {"a": 1, "b": 3}
    assert changed.location(("engine", "b")) == Location("base.yaml", 6, 12)
    assert changed.location(("engine", "b"), key=True) == Location("base.yaml", 6, 9)
    assert changed.location(("engine", "a")) == Location("base.yaml", 1, 13)
    assert changed.sha256 != document.sha256
    assert document.data["engine"] == {"a": 1, "b": 2}


def test_an_overlay_from_elsewhere_has_the_place_that_is_given() -> None:
    changed = source.merge(parsed("a: 1"), {"b": {"c": 2}}, place=Location("other.yaml", 7, 3))
    assert changed.location(("b", "c")) == Location("other.yaml", 7, 3)


def test_a_null_that_removes_nothing_is_told() -> None:
    warnings: list[Finding] = []
    assert source.merge(parsed("a: {xy: 1}"), {"a": {"xz": None}}, warnings=warnings).data == {"a": {"xy": 1}}
    assert [finding.path for finding in warnings] == ["/a/xz"]


def test_numbers_keep_their_text_through_a_merge() -> None:
    document = parsed("engine: {version: 0.10}")
    assert source.merge(document, {"a": 1}).texts[("engine", "version")] == "0.10"


KEYS = st.sampled_from(["a", "b", "load", "model", "ref", "config", "list"])
LEAVES = st.one_of(st.booleans(), st.integers(-9, 9), st.sampled_from(["x", "y"]))
NAMED = st.dictionaries(st.sampled_from(["n1", "n2", "n3"]), st.dictionaries(KEYS, LEAVES, max_size=2), max_size=3).map(
    lambda items: [{"name": name, **rest} for name, rest in items.items()]
)
TREES = st.recursive(
    LEAVES | NAMED, lambda below: st.dictionaries(KEYS, below, max_size=4) | st.lists(below, max_size=3), max_leaves=12
)
MAPS = st.dictionaries(KEYS, TREES, max_size=4)


def laid(base: dict[str, Any], overlay: dict[str, Any]) -> Any:
    return source.merge(source.merge(parsed("{}"), base), overlay).data


@settings(max_examples=60, deadline=None)
@given(MAPS)
def test_nothing_over_anything_and_anything_over_itself_change_nothing(data: dict[str, Any]) -> None:
    assert laid(data, {}) == data
    assert laid({}, data) == data
    assert laid(data, data) == data


@settings(max_examples=60, deadline=None)
@given(MAPS, MAPS)
def test_an_overlay_applied_twice_is_applied_once(base: dict[str, Any], overlay: dict[str, Any]) -> None:
    once = laid(base, overlay)
    assert laid(once, overlay) == once


@settings(max_examples=60, deadline=None)
@given(MAPS, MAPS)
def test_every_scalar_of_the_overlay_is_in_the_result(base: dict[str, Any], overlay: dict[str, Any]) -> None:
    result = laid(base, overlay)
    for key, value in overlay.items():
        if not isinstance(value, (dict, list)):
            assert result[key] == value
    assert set(result) >= set(overlay)


@settings(max_examples=60, deadline=None)
@given(MAPS, MAPS)
def test_every_value_of_a_merged_document_has_a_place(base: dict[str, Any], overlay: dict[str, Any]) -> None:
    document = source.merge(source.merge(parsed("{}"), base), overlay)

    def walk(data: Any, path: tuple[str | int, ...]) -> None:
        assert path in document.values
        for step, child in (
            data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        ):
            walk(child, (*path, step))

    walk(document.data, ())


def test_sections_that_no_overlay_touches_keep_their_places() -> None:
    """A merge takes them over as they are: a stack of many overlays would else be built up again for each."""
    document = parsed("a: {x: 1.50}\nlevers:\n  - {use: change, set: {a: {x: 2}}}\n  - {use: other}\nb: [3, 4]\n")
    changed = source.merge(document, document.data["levers"][0]["set"], written_at=("levers", 0, "set"))
    assert list(changed.data) == ["a", "levers", "b"] and changed.data["a"] == {"x": 2}
    assert changed.location(("a", "x")) == Location("base.yaml", 3, 32)
    for path in (("levers",), ("levers", 1, "use"), ("b", 1)):
        assert changed.location(path) == document.location(path)
        assert changed.location(path, key=True) == document.location(path, key=True)
    assert (changed.texts[("a", "x")], changed.texts[("b", 1)]) == ("2", "4")
    assert changed.sha256 == source.merge(parsed("{}"), changed.data).sha256 != document.sha256
