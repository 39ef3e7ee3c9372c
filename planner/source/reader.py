"""YAML 1.2 core text to nodes, from the parser's events: a hostile text is stopped before it is built up."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import yaml

from planner.findings import Finding, Location
from planner.quoting import quoted
from planner.source import syntax
from planner.source.faults import fault
from planner.source.node import Node, Place
from planner.source.scalars import NumberTooLargeError, Scalar, resolve

MOST_NODES = 200_000
MOST_ALIASED_NODES = 10_000
DEEPEST = 100
MOST_FINDINGS = 50

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What YAML forbids, and the line ends that editors do not count (they would shift every line number after them).
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_FORBIDDEN_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class _StopError(Exception):
    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def read(text: str, file: str) -> tuple[Node | None, tuple[Finding, ...]]:
    """The one document in `text`, or what is wrong with it. `file` is the name to print."""
    text = text.removeprefix("\ufeff")
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        return None, (_forbidden(text, forbidden.start(), file),)
    reader = _Reader(text, file)
    try:
        node = reader.document()
    except _StopError as stop:
        return None, (*reader.findings, stop.finding)
    except yaml.YAMLError as error:
        return None, (*reader.findings, syntax.finding(error, text, file))
    return (None, tuple(reader.findings)) if reader.findings else (node, ())


def _forbidden(text: str, index: int, file: str) -> Finding:
    line = text.count("\n", 0, index) + 1
    column = index - (text.rfind("\n", 0, index) + 1) + 1
    return fault(
        "yaml-control-character",
        f"the character U+{ord(text[index]):04X} must not stand in a spec",
        Location(file, line, column),
        hint="delete it; in a quoted string write an escape such as \\n",
    )


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self._loader = _LOADER(text)
        self._anchors: dict[str, tuple[Node, int] | None] = {}
        self._nodes = 0
        self._aliased = 0

    def document(self) -> Node:
        get = self._loader.get_event
        get()
        start = get()
        if isinstance(start, yaml.StreamEndEvent):
            hint = "`planner init` writes a spec to start from"
            raise _StopError(fault("yaml-empty", "the file is empty", Location(self.file), hint=hint))
        node = self._node(get(), 0)
        get()
        after = get()
        if isinstance(after, yaml.DocumentStartEvent):
            message = "a second YAML document starts here; one file holds one"
            self._stop("yaml-documents", message, after, "put it into a file of its own")
        return node

    def _node(self, event: Any, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.tag is not None:
            message = f"the tag {quoted(event.tag)} is not allowed: values are plain"
            self._add("yaml-tag", message, event, "delete the tag")
        before = self._nodes
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._count(event)
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event)
        elif depth >= DEEPEST:
            self._stop("yaml-depth", f"nested more than {DEEPEST} deep", event)
        elif isinstance(event, yaml.MappingStartEvent):
            node = self._map(event, depth)
        else:
            node = self._list(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node, self._nodes - before
        return node

    def _scalar(self, event: Any) -> Node:
        text: str = event.value
        value: Scalar = text
        if event.implicit[0] and not event.style:
            try:
                value = resolve(text)
            except NumberTooLargeError:
                message = f"the number {quoted(text)} is too large to read"
                self._add("yaml-number", message, event, "quote it if it is a name")
        elif event.style == '"' and _FORBIDDEN_ESCAPED.search(text):
            message = f"the text {quoted(text)} holds a control character"
            self._add("yaml-control-character", message, event, "delete the escape")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return Node(value, self._place(event), text=text if number else None)

    def _list(self, event: Any, depth: int) -> Node:
        items: list[Node] = []
        get = self._loader.get_event
        while not isinstance(child := get(), yaml.SequenceEndEvent):
            items.append(self._node(child, depth + 1))
        return Node(items, self._place(event))

    def _map(self, event: Any, depth: int) -> Node:
        children: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        get = self._loader.get_event
        while not isinstance(child := get(), yaml.MappingEndEvent):
            key = self._key(child, depth)
            value = self._node(get(), depth + 1)
            if key in keys:
                message = f"the key {quoted(key)} is written twice; first at line {keys[key][1]}"
                self._add("yaml-duplicate-key", message, child, "keep one of the two")
            elif key is not None:
                children[key] = value
                keys[key] = self._place(child)
        return Node(children, self._place(event), keys)

    def _key(self, event: Any, depth: int) -> str | None:
        """The text of a key; None, with a finding, where it is anything else."""
        node = self._node(event, depth + 1)
        if isinstance(event, yaml.AliasEvent):
            self._add("yaml-key", "a key must be text, not an alias", event, "write the key itself")
        elif node.value == "<<" and not event.style:
            message = "merge keys (`<<`) are not part of YAML 1.2"
            self._add("yaml-merge-key", message, event, "write the keys out, or use `extends`")
        elif isinstance(node.value, str):
            return node.value
        elif isinstance(event, yaml.ScalarEvent):
            hint = f'write "{event.value}"' if event.value else "write a key before the `:`"
            self._add("yaml-key", f"a key must be text; {quoted(node.value)} is not", event, hint)
        else:
            message = "a key must be text, not a list or map"
            self._add("yaml-key", message, event, "quote a value that begins with `{` or `[`")
        return None

    def _alias(self, event: Any) -> Node:
        name = event.anchor
        if name not in self._anchors:
            self._stop("yaml-alias", f"the alias {quoted('*' + name)} names no anchor above it", event)
        known = self._anchors[name]
        if known is None:
            self._stop("yaml-recursive-alias", f"the alias {quoted('*' + name)} lies inside its own anchor", event)
        node, size = known
        self._nodes += size
        self._aliased += size
        if self._aliased > MOST_ALIASED_NODES:
            message = f"aliases expand to more than {MOST_ALIASED_NODES:,} nodes"
            self._stop("yaml-expansion", message, event, "write the values out, or use `extends`")
        return node

    def _count(self, event: Any) -> None:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            self._stop("yaml-size", f"more than {MOST_NODES:,} values in one file", event)

    def _place(self, event: Any) -> Place:
        mark = event.start_mark
        return self.file, mark.line + 1, mark.column + 1

    def _add(self, id_: str, message: str, event: Any, hint: str = "") -> None:
        finding = fault(id_, message, Location(*self._place(event)), hint=hint)
        if len(self.findings) + 1 >= MOST_FINDINGS:
            raise _StopError(finding)
        self.findings.append(finding)

    def _stop(self, id_: str, message: str, event: Any, hint: str = "") -> NoReturn:
        raise _StopError(fault(id_, message, Location(*self._place(event)), hint=hint))
