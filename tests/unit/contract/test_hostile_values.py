"""A value of the wrong kind anywhere in a spec is a finding at its place, never an exception; in bounded time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from planner import bind, contract, source
from planner.bind.names import unresolved
from planner.cli import cli
from planner.findings import Finding, Verdict
from planner.source.document import Document, NodePath
from planner.source.node import Node
from planner.source.overlay import relaid

HERE = Path(__file__).parent
EVERYTHING = sorted((HERE / "everything").glob("*.yaml"))
COMMITTED = sorted((HERE.parents[2] / "specs").glob("*.yaml"))
VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "list": [1],
    "map": {"a": 1},
    "negative": -1,
    "fifty-one digits": 10**50,
    "the largest float": 1.7976931348623157e308,
    "digits of another script": "\u0661\u0662\u00b2",
    "10,000 characters": "x" * 10_000,
    "a place in a file system": "../../../etc/passwd",
    "a line's end": "a\nb\x1b[31m",
}
FEW = 3
"""Values at one place; the next place takes the next ones, so that every kind of key meets all."""


def placed(file: Path) -> Iterator[tuple[Document, NodePath]]:
    """Every place of a spec below its root."""
    document, problems = source.load(file)
    assert document is not None, problems
    yield from ((document, path) for path in _paths(document.data) if path)


def _paths(value: Any, path: NodePath = ()) -> Iterator[NodePath]:
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from _paths(child, (*path, step))


def with_value(document: Document, path: NodePath, value: Any) -> Document:
    return relaid(document, _node(_put(document.data, path, value)))


def _put(node: Any, path: NodePath, value: Any) -> Any:
    if not path:
        return value
    steps = node.items() if isinstance(node, dict) else enumerate(node)
    changed = [(step, _put(child, path[1:], value) if step == path[0] else child) for step, child in steps]
    return dict(changed) if isinstance(node, dict) else [child for _, child in changed]


def _node(value: Any) -> Node:
    here = ("spec.yaml", 1, 1)
    if isinstance(value, dict):
        return Node({key: _node(child) for key, child in value.items()}, here, dict.fromkeys(value, here))
    return Node([_node(child) for child in value], here) if isinstance(value, list) else Node(value, here)


def found_in(document: Document) -> tuple[Finding, ...]:
    """What is wrong, as the pipeline asks: binding only where the contract has nothing to say."""
    findings = contract.validate(document)
    if findings or document.kind != "Deployment":
        return (*findings, *unresolved(document))
    return bind.plan(document)[1]


def there(findings: tuple[Finding, ...], document: Document, path: NodePath) -> bool:
    """Whether something is said at the place, below it, or of what holds it."""
    place = document.pointer(path)
    return any(
        place == finding.path or finding.path.startswith(f"{place}/") or place.startswith(finding.path)
        for finding in findings
        if finding.verdict is Verdict.INVALID
    )


def may_be(document: Document, path: NodePath, value: Any) -> bool:
    """Whether the value may stand there: any text for text, true for true or false, what is passed on unjudged."""
    node: Any = document.data
    for step in path:
        node = node[step]
    passed_on = path[:2] == ("engine", "args")
    removed = value is None and (document.kind == "Base" or bool({*path} & {"set", "prefill", "decode"}))
    return passed_on or removed or (isinstance(value, str | bool) and type(value) is type(node))


@pytest.mark.parametrize("file", EVERYTHING, ids=lambda file: file.stem)
def test_every_key_of_the_language(file: Path) -> None:
    document, problems = source.load(file)
    assert document is not None
    assert not problems
    assert [item for item in found_in(document) if item.verdict is Verdict.INVALID] == []
    for number, (whole, path) in enumerate(placed(file)):
        for name in [*VALUES, *VALUES][number % len(VALUES) :][:FEW]:
            check(whole, path, name)


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.stem)
def test_every_place_of_the_committed_specs(file: Path) -> None:
    names = list(VALUES)
    for number, (whole, path) in enumerate(placed(file)):
        check(whole, path, names[(number * 7) % len(names)])


def check(document: Document, path: NodePath, name: str) -> None:
    """The value is refused at its place; only text may be any text."""
    hostile = with_value(document, path, VALUES[name])
    findings = found_in(hostile)
    said = f"{name} at {'/'.join(map(str, path))}: {[(item.id, item.path) for item in findings]}"
    if may_be(document, path, VALUES[name]):
        return
    assert there(findings, hostile, path), said
    for finding in findings:
        shown = f"{finding.message}{finding.hint}"
        assert len(shown) < 4000, said
        assert all(character.isprintable() for character in shown.replace("\n", "")), said


@pytest.mark.parametrize(
    "value", ["1e400", "[[[[[", "{a: *b}", "!!python/object:os.system x", "0x10", "\u0661\u0662", "'"]
)
def test_the_command_line_refuses_text_that_is_no_value(value: str, tmp_path: Path) -> None:
    spec = (HERE.parents[2] / "specs" / "prod.yaml").read_text(encoding="utf-8")
    file = tmp_path / "spec.yaml"
    file.write_text(spec.replace("max_model_len: 8192", f"max_model_len: {value}"), encoding="utf-8")
    result = CliRunner().invoke(cli, ["check", "--format", "json", str(file)], prog_name="planner")
    assert result.exit_code == 1, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    (judged,) = json.loads(result.stdout)["results"]
    assert judged["verdict"] == "invalid"
    assert all(item["line"] for item in judged["findings"])


@pytest.mark.parametrize("file", [*EVERYTHING, *COMMITTED], ids=lambda file: file.stem)
def test_a_share_is_the_same_in_percent(file: Path) -> None:
    """Every number from 0 to 1 that may be written in percent too: the plan is the same."""
    for document, path in placed(file):
        node: Any = document.data
        for step in path:
            node = node[step]
        if type(node) is not float or not 0 < node <= 1:
            continue
        percent = with_value(document, path, f"{node * 100:.10g} %")
        if contract.validate(percent):
            continue
        was, now = bind.plan(document)[0], bind.plan(percent)[0]
        assert was is not None
        assert now is not None
        assert replace(now, sha256="", variants={}) == replace(was, sha256="", variants={}), path
