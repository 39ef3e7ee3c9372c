"""`/pointer=value`: one value of a document replaced, to ask what if."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence
from pathlib import Path

from planner.findings import Finding, Location
from planner.quoting import plain, quoted
from planner.source import reader
from planner.source.document import Document
from planner.source.faults import fault
from planner.source.loading import Loaded
from planner.source.merging import MODEL_HOLDERS, MODEL_SOURCES, escape, label
from planner.source.node import Node, Place
from planner.source.overlay import relaid, tree


class _StopError(Exception):
    def __init__(self, message: str, hint: str, pointer: str) -> None:
        super().__init__(message)
        self.message, self.hint, self.pointer = message, hint, pointer


def set_value(document: Document, assignment: str) -> Loaded:
    """`document` with the value at a JSON pointer replaced: "/engine/max_model_len=4096".

    Items of lists are addressed by `name`, `use` or index, `-` appends; the value is YAML (a scalar or a flow
    collection) and `null` removes. Missing maps on the way are made. Another source of a model takes the place of the
    one that is there. Findings: `set-syntax`, `set-unknown-path` with the nearest known place, `yaml-…` of the value.
    """
    changed, findings = set_values(document, (assignment,))
    return (None if findings else changed), findings


def set_values(document: Document, assignments: Sequence[str]) -> tuple[Document, tuple[Finding, ...]]:
    """As `set_value`, one after another; what cannot be set is left as it is, with a finding."""
    if not assignments:
        return document, ()
    root = tree(document)
    findings: list[Finding] = []
    names: dict[str, Path] = {}
    for assignment in assignments:
        steps, value, problems = _parsed(assignment)
        findings += problems
        if value is None:
            continue
        name = _place(assignment).file
        names[name] = document.folder
        try:
            root = _assigned(root, steps, value, "", "")
        except _StopError as stop:
            place = Location(name)
            findings.append(fault("set-unknown-path", stop.message, place, hint=stop.hint, path=stop.pointer))
    result = relaid(document, root)
    return dataclasses.replace(result, folders={**document.folders, **names}), tuple(findings)


def assignment_problem(assignment: str) -> str:
    """What is wrong with an assignment whatever the document, and the way out; "" where nothing is."""
    _, value, findings = _parsed(assignment)
    first = next(iter(findings), None)
    if value is not None or first is None:
        return ""
    said = f"{first.message}; {first.hint}" if first.hint else first.message
    return f"{quoted(assignment)}: {said}" if first.id.startswith("yaml-") else said


def _parsed(assignment: str) -> tuple[list[str], Node | None, tuple[Finding, ...]]:
    """The steps of the pointer, and the value; None and why where it is no assignment."""
    pointer, equals, text = assignment.partition("=")
    place = _place(assignment)
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    if not equals or not pointer.startswith("/") or not all(steps):
        return steps, None, (_syntax(assignment, place),)
    if steps[0] == "extends":
        message = "`extends` cannot be set: files are merged before values are"
        return steps, None, (fault("set-unknown-path", message, place, hint="edit the file", path="/extends"),)
    value, findings = reader.read(text, place.file)
    if value is None and any(finding.id == "yaml-empty" for finding in findings):
        return steps, None, (_syntax(assignment, place),)
    return steps, value, findings


def _place(assignment: str) -> Location:
    return Location(f"--set {plain(assignment.partition('=')[0])}")


def _syntax(assignment: str, place: Location) -> Finding:
    pointer, equals, text = assignment.partition("=")
    if not pointer.startswith("/"):
        pointer = "/" + pointer.strip().replace(".", "/")
    pointer = pointer if all(pointer.split("/")[1:]) else "/engine/max_model_len"
    hint = f"write {quoted(pointer + '=' + (text or 'value'))}"
    hint = f"{hint}; `null` removes a value" if equals and not text else hint
    return fault("set-syntax", f"{quoted(assignment)} is not `/path/to/key=value`", place, hint=hint)


def _assigned(node: Node, steps: list[str], value: Node, pointer: str, key: str) -> Node:
    """`node` with `value` at `steps` below it."""
    if not steps:
        return value
    if isinstance(node.value, list):
        return _in_list(node, node.value, steps, value, pointer)
    if not isinstance(node.value, dict):
        message = f"{quoted(pointer)} is {quoted(node.value)}, which holds nothing below it"
        raise _StopError(message, f"set {quoted(pointer)} itself", pointer)
    return _in_map(node, node.value, steps, value, pointer, key)


def _in_map(node: Node, old: dict[str, Node], steps: list[str], value: Node, pointer: str, key: str) -> Node:
    step = steps[0]
    children, keys = dict(old), dict(node.keys)
    if len(steps) == 1 and value.value is None:
        if step not in children:
            raise _unknown(step, list(children), pointer)
        del children[step]
    else:
        if len(steps) == 1 and key in MODEL_HOLDERS and step in MODEL_SOURCES:
            for source in (MODEL_SOURCES | {"revision"}) - {step}:
                children.pop(source, None)
        here: Place = value.place
        below = children.get(step, Node([] if steps[1:] == ["-"] else {}, here))
        children[step] = _assigned(below, steps[1:], value, f"{pointer}/{escape(step)}", step)
        keys[step] = here if step not in old or len(steps) == 1 else keys[step]
    return Node(children, node.place, {name: keys[name] for name in children})


def _in_list(node: Node, old: list[Node], steps: list[str], value: Node, pointer: str) -> Node:
    step = steps[0]
    items = list(old)
    if step == "-" and len(steps) == 1 and value.value is not None:
        return Node([*items, value], node.place)
    index = _index(items, step, pointer)
    if len(steps) == 1 and value.value is None:
        del items[index]
    else:
        items[index] = _assigned(items[index], steps[1:], value, f"{pointer}/{escape(step)}", "")
    return Node(items, node.place)


def _index(items: list[Node], step: str, pointer: str) -> int:
    labels = [label(item) for item in items]
    if step in labels:
        return labels.index(step)
    if step.isascii() and step.isdigit() and len(step) < 9 and int(step) < len(items):
        return int(step)
    known = [text if text is not None else str(index) for index, text in enumerate(labels)]
    raise _unknown(step, known, pointer)


def _unknown(step: str, known: list[str], pointer: str) -> _StopError:
    close = difflib.get_close_matches(step, known, n=1)
    if close:
        hint = f"did you mean {quoted(f'{pointer}/{escape(close[0])}')}?"
    else:
        hint = f"known there: {', '.join(quoted(name) for name in known[:12])}" if known else ""
    return _StopError(f"there is no {quoted(step)} in {quoted(pointer or '/')}", hint, pointer)
