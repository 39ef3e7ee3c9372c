"""What the schema refuses: id, place, what was read, the way out."""

# One row a case, however long.
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner import contract
from planner.findings import Severity, Verdict
from planner.source.document import Document

# (replaced, by, id, words of the message, words of the hint). `§` marks the expected place.
REFUSED: list[tuple[str, str, str, str, str]] = [
    # Keys
    ("  max_model_len: 8192", "  §max_modle_len: 8192", "unknown-key", "`max_modle_len`", "Did you mean `max_model_len`"),
    ("  max_model_len: 8192", "  §tp: 1", "unknown-key", "`tp`", "`tensor_parallel_size`"),
    ("  max_model_len: 8192", "  §num_ctx: 4096", "unknown-key", "`num_ctx`", "`max_model_len`"),
    ("  max_model_len: 8192", "  §gpu_memory_utilisation: 0.9", "unknown-key", "", "`gpu_memory_utilization`"),
    ("  max_model_len: 8192", "  §mem_fraction_static: 0.9", "unknown-key", "`mem_fraction_static`", ""),
    ("  time_to_first_token:", "  §ttft:", "unknown-key", "`ttft`", "`time_to_first_token`"),
    ("objectives:", "§objektives:", "unknown-key", "`objektives` in the document", "`objectives`"),
    ("- use: prefix-caching", "- use: prefix-caching\n    §statos: consider", "unknown-key", "", "`status`"),
    ("  accelerator: l4", "  accelerator: {ref: l4, §count: 2}", "misplaced-key", "`count`", "Remove it"),
    ("  accelerator: l4", "  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {§fp17: 1 TFLOP/s}}", "unknown-key", "", "`fp16`"),
    ("{p95: 500 ms}", "{§p96: 500 ms}", "unknown-key", "`p96` in `time_to_first_token`", "`p95`"),
    ("  name: chat\n", "  name: chat\n  §labels: {a: b}\n", "unknown-key", "", "Known keys: name, owner, description, date, expect"),
    # What is missing
    ("metadata:\n  name: chat\n", "§metadata:\n  owner: me\n", "missing-key", "`metadata` lacks the key `name`", "report"),
    ("  name: vllm\n", "", "missing-key", "`engine` lacks the key `name`", "engine"),
    ("- use: prefix-caching", "- §use: quantize-kv-cache", "missing-key", "`format`", "Precision"),
    ("  ref: meta-llama/Llama-3.1-8B-Instruct", "  revision: abc", "missing-key", "none of ref, config, gguf", "Give one"),
    ("{concurrency: 8}", "{requests: 640}", "missing-key", "none of concurrency, offline, rate", "Give one"),
    # Keys that exclude each other
    ("{concurrency: 8}", "{concurrency: 8, §rate: 4 request/s}", "conflicting-keys", "exclude each other", "Keep one"),
    ("      output_tokens: 100", "      output_tokens: 100\n      prefix: {shared_tokens: 8, §hit_rate: 0.5}", "conflicting-keys", "", ""),
    ("{concurrency: 8}", "{concurrency: 8, §scale: 2}", "misplaced-key", "`scale` means nothing without `trace`", "Remove `scale`"),
    # Types and values
    ("  count: 1", "  count: §two", "unit-error", "`two`", ""),
    ("  count: 1", "  count: §1.5", "wrong-type", "read `1.5`; expected a whole number", "tensor x pipeline x data"),
    ("  count: 1", "  count: §true", "wrong-type", "read `true`; expected a whole number", ""),
    ("  count: 1", "  count: §0", "out-of-range", "at least 1", ""),
    ("  max_model_len: 8192", "  max_model_len: §8k", "unit-error", "`8k`", "8"),
    ("  max_model_len: 8192", "  enforce_eager: §no", "wrong-type", "read `no`; expected true or false", "CUDA graphs"),
    ("objectives:\n  time_to_first_token: {p95: 500 ms}", "objectives:§", "wrong-type", "read nothing; expected a map", ""),
    ("  version: \"0.11\"", "  version: §0.10", "version-not-text", "`version: 0.10`", 'version: "0.10"'),
    ("  version: \"0.11\"", "  version: §latest", "not-allowed-value", "expected text such as `0.11`", "Release"),
    ("  version: \"0.11\"", "  version: §\"0.11\\n\"", "not-allowed-value", "`0.11\\n`", ""),
    ("  name: chat", "  name: §\"chat\\n\"", "not-allowed-value", "`chat\\n`", ""),
    ("  accelerator: l4", "  accelerator: {ref: l4, memory: §[1]}", "wrong-type", "expected an amount of memory, such as `80 GB` or a map", ""),
    ("{p95: 500 ms}", "{p95: §true}", "wrong-type", "expected a length of time, such as `500 ms`", ""),
    ("objectives:", "objectives:\n  cost: {max: §{}}", "wrong-type", "a cost, such as `45000 USD/month` or `3 USD`", ""),
    ("  max_model_len: 8192", "  gpu_memory_utilization: §85", "unit-error", "above 1 (100 %)", "`85 %`"),
    ("  ref: meta-llama/Llama-3.1-8B-Instruct", "  ref: a/b\n  revision: §1234567e3", "version-not-text", "`revision: 1234567e3`", 'revision: "1234567e3"'),
    ("  name: chat\n", "  name: §Chat Bot\n", "not-allowed-value", "`Chat Bot`", "lower-case"),
    ("  name: chat\n", "  name: chat\n  expect: §infeasable\n", "not-allowed-value", "expected one of", "Did you mean `infeasible`"),
    ("{concurrency: 8}", "{offline: §false}", "not-allowed-value", "expected `true`", "maximum throughput"),
    ("  name: vllm\n", "  name: §vlmm\n", "unknown-engine", "there is no engine `vlmm`", "`vllm`"),
    ("- use: prefix-caching", "- use: §prefix-cashing", "unknown-lever", "there is no lever `prefix-cashing`", "`prefix-caching`"),
    ("{p95: 500 ms}", "§{}", "empty", "read an empty map", "p95"),
    ("workload:\n  load: {concurrency: 8}\n  classes:\n    - name: chat\n      prompt_tokens: 500\n      output_tokens: 100",
     "workload:\n  load: {concurrency: 8}\n  classes: §[]", "empty", "read an empty list", "Kinds of requests"),
    # Units
    ("  accelerator: l4", "  accelerator: {memory: §80, bandwidth: 1 TB/s}", "unit-error", "80", "80 GB"),
    ("  accelerator: l4", "  accelerator: {memory: §80 Gb, bandwidth: 1 TB/s}", "unit-error", "80 Gb", "GB"),
    ("  accelerator: l4", "  accelerator: {memory: 80 GB, bandwidth: §3.35 TB}", "unit-error", "3.35 TB", "TB/s"),
    ("{p95: 500 ms}", "{p95: §500}", "unit-error", "500", "ms"),
    ("  count: 1", "  count: 1\n  price: §$2.5/h", "unit-error", "$2.5/h", "USD"),
    ("{concurrency: 8}", "{rate: §4}", "unit-error", "4", "request/s"),
    ("{concurrency: 8}", "{rate: §25 token/s}", "unit-error", "25 token/s", "request"),
    ("objectives:", "objectives:\n  rejected_requests: {max: §10}", "unit-error", "10", "%"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "slug", "message", "hint"), REFUSED, ids=[f"{item[2]}:{item[1][-28:].strip()}" for item in REFUSED]
)
def test_refused_where_it_was_written(marked: Any, old: str, new: str, slug: str, message: str, hint: str) -> None:
    found, place = marked(old, new)
    assert found.id == slug
    if "§" in new:
        assert f"{found.location.line}:{found.location.column}" == place
    assert message in found.message
    assert hint in found.hint
    assert (found.severity, found.verdict) == (Severity.ERROR, Verdict.INVALID)


def test_the_pointer_names_items_of_lists(marked: Any) -> None:
    found, _ = marked("- use: prefix-caching", "- use: quantize-kv-cache\n    format: fp9")
    assert found.path == "/levers/quantize-kv-cache/format"


def test_every_error_is_reported_the_deepest_first(validate: Any) -> None:
    found = validate(
        "apiVersion: planner/v1\nkind: Deployment\nmetadata: {name: a, x: 1}\nmodel: 3\nengine: {name: vllm, y: 1}\n"
    )
    assert [(item.id, item.path) for item in found] == [
        ("unknown-key", "/metadata/x"),
        ("unknown-key", "/engine/y"),
        ("wrong-type", "/model"),
        ("missing-key", ""),
        ("missing-key", ""),
    ]


def test_a_misspelt_key_is_not_missing_too(validate: Any) -> None:
    found = validate("apiVersion: planner/v1\nkind: Deployment\nmetadata: {nam: a}\n")
    assert [item.id for item in found if item.path.startswith("/metadata")] == ["unknown-key"]


@pytest.mark.parametrize(
    ("head", "slug", "hint"),
    [
        ("kind: Deployment\n", "missing-key", "apiVersion: planner/v1"),
        ("apiVersion: planner/v2\nkind: Deployment\n", "unknown-api-version", "planner/v1"),
        ("apiVersion: planner/v1\n", "missing-key", "Deployment"),
        ("apiVersion: planner/v1\nkind: Deplyment\n", "unknown-kind", "`Deployment`"),
        ("apiversion: planner/v1\nkind: Base\n", "unknown-key", "`apiVersion`"),
        ("apiVersion: [planner/v1]\nkind: {a: 1}\n", "unknown-api-version", "planner/v1"),
    ],
)
def test_a_document_says_what_it_is(validate: Any, head: str, slug: str, hint: str) -> None:
    found = validate(head)[0]
    assert found.id == slug
    assert hint in found.hint


def document(data: dict[str, Any]) -> Document:
    """What a caller of the Python API may hand over; a file with such text is refused when it is read."""
    return Document("spec.yaml", Path(), Path(), {"apiVersion": "planner/v1", "kind": "Deployment", **data})


def test_nothing_of_the_spec_acts_in_a_message() -> None:
    hostile = {
        "metadata": {"name": "\x1b[31mred\u202eder", "\x1b]0;x\a": 1},
        "engine": {"name": "\x1b[2Jvllm"},
        "levers": [{"use": "\x1b[1m"}, {"use": "prefix-caching", "\r": 1}],
        "workload": {
            "load": {"rate": "4\x1b[31m request/s"},
            "classes": [{"name": "a\n", "prompt_tokens": {"\x00": 1}}] * 2,
        },
        "model": {"ref": "a", "weights": "\u2028", "config": "\x7f"},
    }
    found = contract.validate(document(hostile))
    assert {"unknown-engine", "unknown-lever", "unit-error", "duplicate-name", "unknown-format"} <= {
        item.id for item in found
    }
    assert all((item.message + item.hint).isprintable() for item in found)


@pytest.mark.parametrize(
    "value", [None, True, 1, 1.5, -1, float("inf"), float("nan"), "x", [], {}, [[]], [{}], {"a": {}}]
)
def test_any_value_anywhere_is_an_error_or_fine(value: Any) -> None:
    """No value of any type at any key is more than a finding."""
    keys = ["metadata", "model", "hardware", "engine", "workload", "objectives", "levers", "waivers", "measurements"]
    contract.validate(document(dict.fromkeys(keys, value)))
    for section, inner in [
        ("model", ["architecture", "weights"]),
        ("hardware", ["accelerator", "count", "replicas", "price"]),
        ("engine", ["name", "args", "kv_cache_dtype", "tensor_parallel_size"]),
        ("workload", ["load", "classes", "growth"]),
        ("objectives", ["cost", "time_to_first_token"]),
    ]:
        contract.validate(document({section: dict.fromkeys(inner, value)}))
    contract.validate(document({"levers": [{"use": value, "status": value, "format": value, "name": value}]}))
    contract.validate(
        document(
            {"workload": {"load": {}, "classes": [dict.fromkeys(["name", "share", "prompt_tokens", "load"], value)]}}
        )
    )


def test_the_number_of_errors_is_bounded(validate: Any) -> None:
    keys = "\n".join(f"  key{number}: 1" for number in range(3000))
    found = validate(f"apiVersion: planner/v1\nkind: Deployment\nmetadata:\n  name: a\n{keys}\n")
    assert len(found) == 201
    assert found[-1].id == "too-many-errors"


def test_a_number_without_end_is_refused() -> None:
    found = contract.validate(document({"workload": {"classes": [{"name": "a", "context_tokens": float("inf")}]}}))
    assert "out-of-range" in {item.id for item in found}
