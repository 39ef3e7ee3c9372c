"""Model documents: the same Model back, short lines, and every bad document a finding."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.architectures import layer_ranges
from planner.architectures.config import read_config
from planner.architectures.document import read_document, to_document
from planner.architectures.document_text import text
from planner.architectures.document_weights import line_of, weight_of
from planner.domain.model import (
    CacheEntry,
    FeedForward,
    LayerGroup,
    Mixer,
    Model,
    RecurrentState,
    Weight,
)

DOCUMENT: dict[str, Any] = {
    "apiVersion": "planner/v1",
    "kind": "Model",
    "metadata": {"name": "me/mine", "family": "llama", "parameters": 2 * (64 * 64 + 64) + 100 * 64},
    "model": {
        "hidden": 64,
        "vocabulary": 100,
        "embedding": ["embed 100x64 embedding vocabulary"],
        "groups": [
            {
                "layers": "0-1",
                "mixers": [
                    {
                        "kind": "full-attention",
                        "heads": 4,
                        "kv_heads": 2,
                        "key_dim": 16,
                        "value_dim": 16,
                        "cache": [{"elements": 64, "shards": 2}],
                        "weights": ["q 64x64 column"],
                    }
                ],
                "norms": ["norm 64"],
            }
        ],
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The document with one value replaced; a number in the path is an index."""
    document = copy.deepcopy(DOCUMENT)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    node: Any = document
    for step in steps:
        node = node[step]
    node[last] = value
    return document


sizes = st.integers(1, 1 << 30)
names = st.text("abcdefgh_.", min_size=1, max_size=12)
formats = st.sampled_from([None, "fp8-block", "q4_k", "awq-int4-g32", "fp32"])


@st.composite
def weights(draw: st.DrawFn) -> Weight:
    copies = draw(st.sampled_from([1, 1, 8, 256]))
    return Weight(
        draw(names),
        draw(sizes),
        draw(st.sampled_from([1, 64, 4096])),
        draw(st.sampled_from(["linear", "expert", "router", "vector", "convolution", "embedding", "head", "tower"])),
        draw(st.sampled_from(["replicated", "column", "row", "kv", "vocabulary"])),
        copies,
        draw(st.sampled_from([None, 0, copies])),
        draw(st.sampled_from([1, 8])),
        draw(formats),
    )


mixers = st.builds(
    Mixer,
    kind=st.sampled_from(["full-attention", "sliding-attention", "latent-attention", "mamba-2", "none"]),
    weights=st.lists(weights(), max_size=3).map(tuple),
    cache=st.lists(
        st.builds(
            CacheEntry,
            elements=sizes,
            shards=sizes,
            window=st.none() | sizes,
            stride=sizes,
            role=st.sampled_from(["kv", "latent", "index", "cross"]),
            format=st.sampled_from([None, "fp8_index"]),
        ),
        max_size=2,
    ).map(tuple),
    state=st.none()
    | st.builds(RecurrentState, sizes, sizes, sizes, st.sampled_from([2.0, 4.0]), st.sampled_from([2.0, 4.0])),
    heads=st.integers(0, 128),
    kv_heads=st.integers(0, 128),
    decode_key_dim=st.none() | sizes,
    window=st.none() | sizes,
    sparse_tokens=st.none() | sizes,
    query_key_norm=st.booleans(),
)
feed_forwards = st.builds(
    FeedForward,
    kind=st.sampled_from(["dense", "experts", "none"]),
    weights=st.lists(weights(), max_size=3).map(tuple),
    width=st.integers(0, 9999),
    experts=st.integers(0, 512),
)


@st.composite
def models(draw: st.DrawFn) -> Model:
    kinds = draw(st.lists(st.integers(0, 3), min_size=1, max_size=40))
    groups = tuple(
        LayerGroup(
            tuple(index for index, found in enumerate(kinds) if found == kind),
            draw(st.lists(mixers, max_size=2).map(tuple)),
            draw(st.lists(feed_forwards, max_size=2).map(tuple)),
            draw(st.lists(weights(), max_size=2).map(tuple)),
        )
        for kind in dict.fromkeys(kinds)
    )
    return Model(
        draw(names),
        draw(sizes),
        draw(sizes),
        groups,
        embedding=draw(st.lists(weights(), max_size=2).map(tuple)),
        head=draw(st.none() | weights()),
        towers=draw(st.lists(weights(), max_size=2).map(tuple)),
        prediction_layers=groups[:1],
        dtype=draw(st.sampled_from(["bf16", "fp16"])),
        cache_format=draw(st.sampled_from([None, "fp8"])),
        nominal=draw(formats),
        max_context=draw(st.none() | sizes),
        family=draw(names),
        exact=draw(st.booleans()),
        multimodal=draw(st.booleans()),
        notes=draw(st.lists(st.text(max_size=40), max_size=2).map(tuple)),
    )


@settings(max_examples=150, deadline=None)
@given(models())
def test_any_model_comes_back_the_same(model: Model) -> None:
    document = to_document(model, source="s", notes=("a: b", "yes"))
    assert yaml.safe_load(text(document)) == document
    found, findings = read_document(document)
    assert found == model
    assert not findings


def test_the_largest_reads_in_time(deepseek_v3: dict[str, Any]) -> None:
    """3 ms after YAML on a free core; a busy one gets five times that."""
    model, _ = read_config(deepseek_v3, name="deepseek-ai/DeepSeek-V3")
    assert model is not None
    document = to_document(model)
    best = 1.0
    for _ in range(3):
        weight_of.cache_clear()
        started = time.perf_counter()
        found, _ = read_document(document)
        best = min(best, time.perf_counter() - started)
    assert found == model
    assert best < 0.015
    assert len(text(document)) < 8000


@pytest.mark.parametrize(
    ("line", "weight"),
    [
        ("norm 64", Weight("norm", 64, 1, "vector")),
        ("q 64x32 column", Weight("q", 64, 32, "linear", "column")),
        ("k 64x32 kv heads=2 fp8-block", Weight("k", 64, 32, "linear", "kv", heads=2, format="fp8-block")),
        ("up 8x64x32 row active=2", Weight("up", 64, 32, "expert", "row", 8, 2)),
        ("gate 8x64 router", Weight("gate", 8, 64, "router")),
        ("bias 8x64x1 column active=2", Weight("bias", 64, 1, "expert", "column", 8, 2)),
    ],
)
def test_lines_of_weights(line: str, weight: Weight) -> None:
    assert weight_of(line) == weight
    assert line_of(weight) == line


@pytest.mark.parametrize(
    "line",
    [
        "", "norm", "norm x64", "norm 0", "norm 64x", "norm -64", "norm 1x2x3x4", "norm 64 sideways", "norm 64 heads=0",
        "norm 99999999999999999", "up 8x64x32 active=9", "norm 64 heads=²", "norm ٦٤", "n" * 500 + " 64",
    ],
)  # fmt: skip
def test_lines_that_are_no_weights(line: str) -> None:
    assert isinstance(weight_of(line), str)


@pytest.mark.parametrize(
    ("layers", "written"),
    [
        ((0,), "0"),
        (tuple(range(80)), "0-79"),
        ((5, 11, 17, 23), "5-23/6"),
        ((0, 2), "0, 2"),
        ((0, 1, 2, 4, 5), "0-2, 4-5"),
        ((3, 4, 9, 14, 19), "3-4, 9-19/5"),
    ],
)
def test_layer_ranges(layers: tuple[int, ...], written: str) -> None:
    assert layer_ranges.written(layers) == written
    assert layer_ranges.read(written) == layers


@given(st.lists(st.integers(0, 4000), min_size=1, unique=True).map(sorted))
def test_layer_ranges_come_back(layers: list[int]) -> None:
    assert layer_ranges.read(layer_ranges.written(layers)) == tuple(layers)


@pytest.mark.parametrize("written", ["", "a", "3-1", "0-9/0", "0-999999", "-1", "1-", None, [0], True, "0," * 9999])
def test_ranges_that_are_none(written: Any) -> None:
    assert layer_ranges.read(written) is None


def test_a_document_by_hand() -> None:
    model, findings = read_document(DOCUMENT)
    assert model is not None
    assert not findings
    assert model.parameters == 100 * 64 + 2 * (64 * 64 + 64)
    assert (model.layers, model.tied, model.name, model.family) == (2, True, "me/mine", "llama")


def test_a_count_that_is_not_the_sum_is_a_warning() -> None:
    model, findings = read_document(changed("metadata.parameters", 7_000_000_000))
    assert model is not None
    assert [finding.id for finding in findings] == ["model-document-parameters"]
    assert "14720" in findings[0].message  # 6400 + 2 x 4160


@pytest.mark.parametrize(
    ("path", "value", "slug", "field"),
    [
        ("apiVersion", "planner/v9", "kind", "apiVersion"),
        ("kind", "Deployment", "kind", "kind"),
        ("metadata", None, "bad-value", "metadata"),
        ("model", None, "missing-field", "model"),
        ("model", [], "bad-value", "model"),
        ("model.hidden", None, "missing-field", "model.hidden"),
        ("model.hidden", -1, "bad-value", "model.hidden"),
        ("model.hidden", 2**70, "bad-value", "model.hidden"),
        ("model.hidden", True, "bad-value", "model.hidden"),
        ("model.hiden", 1, "unknown-key", "model.hiden"),
        ("model.dtype", "bf17", "bad-value", "model.dtype"),
        ("model.cache_format", "fp9", "bad-value", "model.cache_format"),
        ("model.head", "head", "weight", "model.head[0]"),
        ("model.exact", "perhaps", "bad-value", "model.exact"),
        ("model.groups", [], "missing-field", "model.groups"),
        ("model.groups", "all", "bad-value", "model.groups"),
        ("model.groups.0.layers", "1-2", "layers", "model.groups"),
        ("model.groups.0.layers", "0-999999", "layers", "model.groups[0].layers"),
        ("model.groups.0.layers", "0, 0", "layers", "model.groups"),
        ("model.groups.0.norms", ["norm sixty"], "weight", "model.groups[0].norms[0]"),
        ("model.groups.0.norms", [{"a": 1}], "weight", "model.groups[0].norms[0]"),
        ("model.groups.0.mixers.0.kind", "full-atention", "bad-value", "model.groups[0].mixers[0].kind"),
        ("model.groups.0.mixers.0.kind", [], "bad-value", "model.groups[0].mixers[0].kind"),
        ("model.groups.0.mixers.0.state", 5, "bad-value", "model.groups[0].mixers[0].state"),
        ("model.groups.0.mixers.0.cache.0.shards", 0, "bad-value", "model.groups[0].mixers[0].cache[0].shards"),
        ("model.groups.0.mixers.0.cache", [{}], "missing-field", "model.groups[0].mixers[0].cache[0].elements"),
    ],
)  # fmt: skip
def test_bad_documents_name_the_field(path: str, value: Any, slug: str, field: str) -> None:
    model, findings = read_document(changed(path, value))
    assert model is None
    assert (f"model-document-{slug}", field) in [(finding.id, finding.values["field"]) for finding in findings]
    assert all(finding.verdict is not None for finding in findings)


def test_the_nearest_spelling_is_named() -> None:
    _, findings = read_document(changed("model.groups.0.mixers.0.kind", "full-atention"))
    assert "full-attention" in findings[0].hint


def test_two_groups_with_one_layer() -> None:
    document = changed("model.groups", DOCUMENT["model"]["groups"] * 2)
    assert "layer 0 is in two groups" in read_document(document)[1][0].message


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PATHS = ("metadata", "metadata.name", "model", "model.groups", "model.groups.0", "model.groups.0.layers", "model.head",
         "model.groups.0.mixers.0", "model.groups.0.mixers.0.cache", "model.groups.0.mixers.0.window", "model.notes",
         "model.groups.0.mixers.0.weights", "model.groups.0.feed_forwards", "model.vocabulary")  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PATHS), junk)
def test_junk_is_never_a_traceback(path: str, value: Any) -> None:
    model, findings = read_document(changed(path, value))
    assert model is not None or findings


FIGURES = {"parameters": 7e9, "layers": 32, "attention": {"kv_heads": 8, "head_dim": 128}}


def by_figures(**changes: Any) -> dict[str, Any]:
    head = {key: DOCUMENT[key] for key in ("apiVersion", "kind")}
    return {**head, "metadata": {"name": "x"}, "architecture": {**FIGURES, **changes}}


def test_figures_in_a_document() -> None:
    model, findings = read_document(by_figures())
    assert model is not None
    assert not findings
    assert (model.parameters, model.layers, model.exact, model.name) == (7_000_000_000, 32, False, "x")


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["parameters", "layers", "attention", "experts", "recurrent", "hidden", "vocabulary"]), junk)
def test_junk_figures_are_never_a_traceback(key: str, value: Any) -> None:
    model, findings = read_document(by_figures(**{key: value}))
    assert model is not None or findings


@pytest.mark.parametrize(
    "changes", [{"layers": 10**9}, {"parameters": None}, {"parameters": float("nan")}, {"colour": 1}]
)
def test_bad_figures(changes: dict[str, Any]) -> None:
    model, findings = read_document(by_figures(**changes))
    assert model is None
    assert findings
