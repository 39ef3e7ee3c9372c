"""YAML text to nodes: positions, traps, and hostile texts."""

from __future__ import annotations

import json
import time

import pytest
import yaml

from planner.findings import Severity, Verdict
from planner.source import reader
from planner.source.node import Flat, flatten


def data_of(text: str) -> object:
    node, findings = reader.read(text, "spec.yaml")
    assert findings == ()
    assert node is not None
    return flatten(node, Flat())


def ids_of(text: str) -> list[str]:
    """["id line:column", …] of a text that has no document."""
    node, findings = reader.read(text, "spec.yaml")
    assert node is None
    assert all(finding.severity is Severity.ERROR and finding.verdict is Verdict.INVALID for finding in findings)
    assert all(finding.location is not None and finding.location.file == "spec.yaml" for finding in findings)
    return [f"{finding.id} {str(finding.location).removeprefix('spec.yaml:')}" for finding in findings]


def message_of(text: str) -> str:
    _, findings = reader.read(text, "spec.yaml")
    return findings[0].message


def test_every_key_and_value_has_its_line_and_column() -> None:
    node, _ = reader.read("a: 1\nb:\n  - name: x\n    c: [7, 'é8']\n", "f")
    assert node is not None
    flat = Flat()
    flatten(node, flat)
    assert {path: (place.line, place.column) for path, place in flat.values.items()} == {
        (): (1, 1),
        ("a",): (1, 4),
        ("b",): (3, 3),
        ("b", 0): (3, 5),
        ("b", 0, "name"): (3, 11),
        ("b", 0, "c"): (4, 8),
        ("b", 0, "c", 0): (4, 9),
        ("b", 0, "c", 1): (4, 12),
    }
    assert {path: (place.line, place.column) for path, place in flat.keys.items()} == {
        ("a",): (1, 1),
        ("b",): (2, 1),
        ("b", 0, "name"): (3, 5),
        ("b", 0, "c"): (4, 5),
    }


def test_columns_count_characters() -> None:
    # a : blank [ ' are 1 to 5, the four characters 6 to 9, ' , blank 10 to 12
    assert ids_of("a: ['ééé😀', @x]") == ["yaml-syntax 1:13"]


def test_numbers_keep_their_text() -> None:
    node, _ = reader.read("version: 0.10\nquoted: '0.10'\nword: true\n", "f")
    assert node is not None
    flat = Flat()
    assert flatten(node, flat) == {"version": 0.1, "quoted": "0.10", "word": True}
    assert flat.texts == {("version",): "0.10"}


def test_quoted_text_is_text() -> None:
    assert data_of("a: '1'\nb: \"true\"\nc: |\n  1\nd: ''\n") == {"a": "1", "b": "true", "c": "1\n", "d": ""}


def test_words_of_yaml_1_1_as_keys_are_text() -> None:
    assert data_of("no: 1\non: 2\n'1': 3\n") == {"no": 1, "on": 2, "1": 3}


def test_aliases_of_values_work() -> None:
    data = data_of("a: &x {b: [1]}\nc: *x\n")
    assert data == {"a": {"b": [1]}, "c": {"b": [1]}}
    assert isinstance(data, dict)
    assert data["a"] is not data["c"]  # a change of one must not be a change of both


def test_a_byte_order_mark_is_passed_over() -> None:
    assert data_of("\ufeffa: 1\n") == {"a": 1}


def test_windows_line_ends() -> None:
    assert data_of("a: 1\r\nb:\r\n  c: 2\r\n") == {"a": 1, "b": {"c": 2}}


def test_json_indented_with_tabs() -> None:
    assert data_of('{\n\t"a": 1,\n\t"b": [true, null, -1.5e+3]\n}\n') == {"a": 1, "b": [True, None, -1500.0]}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a: 1\nb: 2\na: 3\n", ["yaml-duplicate-key 3:1"]),
        ("m: {a: 1, a: 2}\n", ["yaml-duplicate-key 1:11"]),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", ["yaml-merge-key 3:3"]),
        ("a: !!str 1\n", ["yaml-tag 1:4"]),
        ("a: !!set {x, y}\n", ["yaml-tag 1:4"]),
        ("a: !!binary aGk=\n", ["yaml-tag 1:4"]),
        ("a: !!python/object/apply:os.system [id]\n", ["yaml-tag 1:4"]),
        ("a: ! 1\n", ["yaml-tag 1:4"]),
        ("!!map {a: 1}\n", ["yaml-tag 1:1"]),
        ("!!str a: 1\n", ["yaml-tag 1:1"]),
        ("a: 1\n---\na: 2\n", ["yaml-documents 2:1"]),
        ("---\n---\n", ["yaml-documents 2:1"]),
        ("a:\n\tb: 1\n", ["yaml-tab 2:1"]),
        ("a:\n  b:\n  \tc: 1\n", ["yaml-tab 3:3"]),
        ("- - \t- a\n", ["yaml-tab 1:5"]),
        ("a: b\n\tc: d\n", ["yaml-tab 2:1"]),
        ("", ["yaml-empty 1:1"]),
        ("# nothing\n", ["yaml-empty 1:1"]),
        ("1: a\n", ["yaml-key 1:1"]),
        ("true: a\n", ["yaml-key 1:1"]),
        ("a: 1\n: b\n", ["yaml-syntax 2:1"]),
        ("null: a\n", ["yaml-key 1:1"]),
        ("? [a]\n: b\n", ["yaml-key 1:3"]),
        ("a: {{ .Values.x }}\n", ["yaml-key 1:5"]),
        ("a: &x 1\n*x : 2\n", ["yaml-key 2:1"]),
        ("a: *x\n", ["yaml-alias 1:4"]),
        ("a: &x [1, *x]\n", ["yaml-recursive-alias 1:11"]),
        ("a: &x\n  b: *x\n", ["yaml-recursive-alias 2:6"]),
        ("a: 1e999\n", ["yaml-number 1:4"]),
        ("a: b\x00c\n", ["yaml-control-character 1:5"]),
        ("a: 1\nb: \x1b[31m\n", ["yaml-control-character 2:4"]),
        ("a: b\u2028c\n", ["yaml-control-character 1:5"]),
        ('a: "\\x1b[31m"\n', ["yaml-control-character 1:4"]),
        ('a: "\\0"\n', ["yaml-control-character 1:4"]),
        ('a: "\\ud800"\n', ["yaml-syntax 1:7"]),
        ("a: b: c\n", ["yaml-syntax 1:5"]),
        ("a: [1, 2\n", ["yaml-syntax 2:1"]),
        ("a: 'x\n", ["yaml-syntax 2:1"]),
        ("a: @x\n", ["yaml-syntax 1:4"]),
        ("a: `x`\n", ["yaml-syntax 1:4"]),
    ],
)
def test_each_fault_has_an_id_a_line_and_a_column(text: str, ids: list[str]) -> None:
    assert ids_of(text) == ids


def test_faults_of_one_file_are_reported_together() -> None:
    assert ids_of("a: 1\na: 2\nb: !!int 3\n1: x\n") == ["yaml-duplicate-key 2:1", "yaml-tag 3:4", "yaml-key 4:1"]


def test_a_duplicate_key_names_the_first_line() -> None:
    assert message_of("a: 1\nb: 2\na: 3\n") == "the key `a` is written twice; first at line 1"


def test_what_is_still_open_is_named() -> None:
    assert "begun at line 2" in message_of("x: 1\na: [1,\n  2\nb: 3\n")


def test_messages_hold_no_control_characters() -> None:
    for text in ('"\\x1b[2J": 1\n"\\x1b[2J": 2\n', "a: !<\\x1b> x\n", '? "\\x07"\n: *z\n'):
        _, findings = reader.read(text, "f")
        assert findings
        assert all(finding.message.isprintable() for finding in findings)


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        (LAUGHS, "yaml-expansion"),
        ("[" * 20_000, "yaml-depth"),
        ("{a: " * 20_000, "yaml-depth"),
        ("- " * 20_000, "yaml-depth"),
        ("? " * 20_000, "yaml-depth"),
        ("[" * 20_000 + "]" * 20_000, "yaml-depth"),
        ("".join(" " * depth + "a:\n" for depth in range(300)), "yaml-depth"),
        ("[" + "a," * 500_000 + "]", "yaml-size"),
        ('"' + "a" * 1_000_000, "yaml-syntax"),
        ("#" * 1_000_000, "yaml-empty"),
        ("a: 1\n" * 100_000, "yaml-duplicate-key"),
    ],
    ids=[
        "laughs",
        "lists",
        "maps",
        "block-lists",
        "keys",
        "closed-lists",
        "indents",
        "wide",
        "quote",
        "comment",
        "twice",
    ],
)
def test_hostile_texts_end_soon(text: str, id_: str) -> None:
    started = time.perf_counter()
    node, findings = reader.read(text, "f")
    assert node is None
    assert findings[-1].id == id_
    assert len(findings) <= reader.MOST_FINDINGS
    assert time.perf_counter() - started < 10  # about 0.6 s at most; slow machines are given room


def test_many_aliases_below_the_limit_pass() -> None:
    # 10 values of 10 letters each: 11 nodes an alias, 900 aliases expand to 9,900.
    text = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: [" + ",".join(["*a"] * 900) + "]\n"
    node, findings = reader.read(text, "f")
    assert findings == () and node is not None
    assert ids_of(text.replace("b: [", "b: [" + "*a," * 20)) == [f"yaml-expansion 2:{5 + 909 * 3}"]


def test_a_thousand_lines_of_json_are_read_as_fast_as_yaml() -> None:
    value = {f"key{index}": {"a": 1, "b": "text", "c": [1, 2.5, None]} for index in range(120)}
    text = json.dumps(value, indent=1)
    assert text.count("\n") >= 960
    started = time.perf_counter()
    assert data_of(text) == value
    assert time.perf_counter() - started < 1  # about 10 ms


def test_without_the_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_LOADER", yaml.SafeLoader)
    assert data_of("a: {b: [1, '2', no]}\nc: 1e3\n") == {"a": {"b": [1, "2", "no"]}, "c": 1000.0}
    assert ids_of("a: 1\na: 2\n") == ["yaml-duplicate-key 2:1"]
    assert ids_of("a:\n\tb: 1\n") == ["yaml-tab 2:1"]
    assert ids_of("a: b: c\n") == ["yaml-syntax 1:5"]
    assert ids_of("[" * 20_000) == ["yaml-depth 1:101"]
    assert ids_of("a: !!str 1\n") == ["yaml-tag 1:4"]
