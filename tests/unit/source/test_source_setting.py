"""`/pointer=value` on a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner import source
from planner.findings import Finding

SPEC = """\
model: {ref: a/b, revision: c0ffee, weights: fp8}
engine: {name: vllm, max_model_len: 8192}
workload:
  load: {concurrency: 64, requests: 640}
  classes:
    - name: chat
      prompt_tokens: {p50: 900, p95: 3000}
    - name: batch
levers:
  - use: quantize-weights
    status: consider
  - {use: change, name: a/b, set: {}}
"""


def document() -> source.Document:
    found, findings = source.parse(SPEC, file="spec.yaml", folder=Path(__file__).parent)
    assert findings == () and found is not None
    return found


def after(assignment: str) -> Any:
    changed, findings = source.set_value(document(), assignment)
    assert findings == () and changed is not None
    return changed.data


def refused(assignment: str) -> Finding:
    changed, findings = source.set_value(document(), assignment)
    assert changed is None and len(findings) == 1
    return findings[0]


def test_a_value_is_replaced_and_nothing_else() -> None:
    before = document().data
    data = after("/engine/max_model_len=4096")
    assert data["engine"] == {"name": "vllm", "max_model_len": 4096}
    assert {key: data[key] for key in data if key != "engine"} == {
        key: before[key] for key in before if key != "engine"
    }


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("4096", 4096),
        ("7e9", 7e9),
        ("40 ms", "40 ms"),
        ("no", "no"),
        ("'4096'", "4096"),
        ("true", True),
        ("{p95: 500 ms}", {"p95": "500 ms"}),
        ("[1, 2]", [1, 2]),
        ("a=b", "a=b"),
    ],
)
def test_values_are_yaml(value: str, read: object) -> None:
    assert after(f"/engine/x={value}")["engine"]["x"] == read


def test_items_by_name_use_index_and_escape() -> None:
    assert after("/levers/quantize-weights/status=adopt")["levers"][0]["status"] == "adopt"
    assert after("/levers/a~1b/status=adopt")["levers"][1]["status"] == "adopt"
    assert after("/workload/classes/batch/share=0.5")["workload"]["classes"][1] == {"name": "batch", "share": 0.5}
    assert after("/workload/classes/0/share=0.5")["workload"]["classes"][0]["share"] == 0.5
    assert after("/workload/classes/-={name: new}")["workload"]["classes"][2] == {"name": "new"}


def test_one_key_of_a_map_of_alternatives_is_set_alone() -> None:
    assert after("/workload/load/concurrency=128")["workload"]["load"] == {"concurrency": 128, "requests": 640}
    assert after("/workload/classes/chat/prompt_tokens/p95=4000")["workload"]["classes"][0]["prompt_tokens"] == {
        "p50": 900,
        "p95": 4000,
    }
    assert after("/workload/load={offline: true}")["workload"]["load"] == {"offline": True}


def test_another_source_of_the_model_takes_its_place() -> None:
    assert after("/model/ref=c/d")["model"] == {"ref": "c/d", "weights": "fp8"}
    assert after("/model/config=./config.json")["model"] == {"config": "./config.json", "weights": "fp8"}


def test_maps_on_the_way_are_made() -> None:
    assert after("/objectives/time_to_first_token/p95=500 ms")["objectives"] == {
        "time_to_first_token": {"p95": "500 ms"}
    }


def test_null_removes() -> None:
    assert "max_model_len" not in after("/engine/max_model_len=null")["engine"]
    assert len(after("/levers/quantize-weights=null")["levers"]) == 1


def test_the_place_names_the_argument() -> None:
    changed, _ = source.set_value(document(), "/engine/x=4096")
    assert changed is not None
    assert str(changed.location(("engine", "x"))) == "--set /engine/x:1:1"
    assert str(changed.location(("engine", "name"))) == "spec.yaml:2:16"
    assert changed.folders["--set /engine/x"] == changed.folder


@pytest.mark.parametrize(
    ("assignment", "id_", "hint"),
    [
        ("engine.max_model_len=1", "set-syntax", "write `/engine/max_model_len=1`"),
        ("/engine/max_model_len", "set-syntax", "write `/engine/max_model_len=value`"),
        ("/engine/max_model_len=", "set-syntax", "write `/engine/max_model_len=value`; `null` removes a value"),
        ("/=1", "set-syntax", "write `/engine/max_model_len=1`"),
        ("", "set-syntax", "write `/engine/max_model_len=value`"),
        ("/levers/quantise-weights/status=x", "set-unknown-path", "did you mean `/levers/quantize-weights`?"),
        ("/workload/classes/7/share=1", "set-unknown-path", "known there: `chat`, `batch`"),
        ("/workload/classes/zzz/share=1", "set-unknown-path", "known there: `chat`, `batch`"),
        ("/engine/name/x=1", "set-unknown-path", "set `/engine/name` itself"),
        ("/engine/max_model_length=null", "set-unknown-path", "did you mean `/engine/max_model_len`?"),
        ("/extends=./x.yaml", "set-unknown-path", "edit the file"),
        ("/engine/x=[1", "yaml-syntax", "a comma or the closing bracket is missing"),
        ("/engine/x=!!str 1", "yaml-tag", "delete the tag"),
        ("/engine/x=\x1b[31m", "yaml-control-character", "delete it; in a quoted string write an escape such as \\n"),
    ],
)
def test_refused(assignment: str, id_: str, hint: str) -> None:
    finding = refused(assignment)
    assert (finding.id, finding.hint) == (id_, hint)
    assert finding.message.isprintable()


def test_several_in_a_row() -> None:
    once, _ = source.set_value(document(), "/engine/x=1")
    assert once is not None
    twice, _ = source.set_value(once, "/engine/y=2")
    assert twice is not None
    assert str(twice.location(("engine", "x"))) == "--set /engine/x:1:1"
    assert set(twice.folders) == {"spec.yaml", "--set /engine/x", "--set /engine/y"}


def test_several_are_set_one_after_another_and_each_fault_is_said() -> None:
    """The tree is built up once; a later assignment sees what an earlier one made."""
    assignments = ("/engine/args={}", "/engine/args/--x=1", "/engine/nme/x=1", "/levers/quantize-weights=null", "nope")
    changed, findings = source.set_values(document(), assignments)
    assert changed.data["engine"]["args"] == {"--x": 1}
    assert [item["use"] for item in changed.data["levers"]] == ["change"]
    assert [finding.id for finding in findings] == ["set-syntax"]
    one_by_one = document()
    for assignment in assignments[:-1]:
        after_one, _ = source.set_value(one_by_one, assignment)
        assert after_one is not None
        one_by_one = after_one
    assert changed == one_by_one


def test_nothing_set_is_the_same_document() -> None:
    before = document()
    assert source.set_values(before, ()) == (before, ())
