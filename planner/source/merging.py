"""Laying one tree over another: what `extends` and the lever `change` do."""

from __future__ import annotations

import difflib

from planner.findings import Finding, Location, Severity
from planner.quoting import quoted
from planner.source.node import Node

ALTERNATIVES = frozenset({"load", "prompt_tokens", "output_tokens", "prefix", "architecture"})
"""Maps whose keys exclude each other or belong together: half of one beside half of another means nothing."""

MODEL_SOURCES = frozenset({"ref", "config", "architecture", "gguf"})
MODEL_HOLDERS = frozenset({"model", "draft", "checkpoint"})
"""Maps that say where a model comes from. Another source takes the place of the one below it, revision included."""


class Merger:
    """Merges trees; `findings` collects what was probably not meant."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def over(self, base: Node, overlay: Node, pointer: str = "", key: str = "") -> Node:
        """`overlay` laid over `base`: maps merge, scalars and lists replace, named items merge, null removes."""
        if isinstance(overlay.value, dict):
            if not isinstance(base.value, dict) or key in ALTERNATIVES:
                return _without_nulls(overlay)
            return self._maps(base, overlay, pointer, key)
        if isinstance(overlay.value, list) and isinstance(base.value, list):
            return self._lists(base, overlay, pointer)
        return overlay

    def _maps(self, base: Node, overlay: Node, pointer: str, key: str) -> Node:
        assert isinstance(base.value, dict) and isinstance(overlay.value, dict)
        children, keys = dict(base.value), dict(base.keys)
        for name in _replaced_source(overlay.value) if key in MODEL_HOLDERS else ():
            children.pop(name, None)
        for name, child in overlay.value.items():
            below = f"{pointer}/{escape(name)}"
            if child.value is None:
                self._removed(name, base.value, child, below)
                children.pop(name, None)
                continue
            under = children.get(name)
            children[name] = self.over(under, child, below, name) if under is not None else _without_nulls(child)
            keys[name] = overlay.keys[name]
        return Node(children, overlay.place, {name: keys[name] for name in children})

    def _lists(self, base: Node, overlay: Node, pointer: str) -> Node:
        below, above = named(base), named(overlay)
        if below is None or above is None:
            return overlay
        merged = dict(below)
        for name, item in above.items():
            at = f"{pointer}/{escape(name)}"
            merged[name] = self.over(below[name], item, at) if name in below else _without_nulls(item)
        return Node(list(merged.values()), overlay.place)

    def _removed(self, name: str, base: dict[str, Node], null: Node, pointer: str) -> None:
        if name in base:
            return
        close = difflib.get_close_matches(name, base, n=1)
        hint = f"did you mean {quoted(close[0])}?" if close else "delete the line"
        message = f"`null` removes {quoted(name)}, which is not there below"
        place = Location(*null.place)
        finding = Finding("extends-removes-nothing", Severity.WARNING, message, hint, pointer, location=place)
        self.findings.append(finding)


def named(node: Node) -> dict[str, Node] | None:
    """Items of a list by their `name` (else `use`); None where one has neither, or two share it."""
    assert isinstance(node.value, list)
    found: dict[str, Node] = {}
    for item in node.value:
        name = label(item)
        if name is None or name in found:
            return None
        found[name] = item
    return found or None


def label(item: Node) -> str | None:
    """What an item of a list is addressed by."""
    if not isinstance(item.value, dict):
        return None
    node = item.value.get("name") or item.value.get("use")
    return node.value if node is not None and isinstance(node.value, str) else None


def escape(step: str) -> str:
    """One step of a JSON pointer (RFC 6901)."""
    return step.replace("~", "~0").replace("/", "~1")


def _replaced_source(overlay: dict[str, Node]) -> frozenset[str]:
    return MODEL_SOURCES | {"revision"} if MODEL_SOURCES & overlay.keys() else frozenset()


def _without_nulls(node: Node) -> Node:
    """`node` without keys whose value is null: there was nothing below to remove."""
    if not isinstance(node.value, dict) or not any(_has_null(child) for child in node.value.values()):
        return node
    children = {name: _without_nulls(child) for name, child in node.value.items() if child.value is not None}
    return Node(children, node.place, {name: node.keys[name] for name in children})


def _has_null(node: Node) -> bool:
    below = node.value.values() if isinstance(node.value, dict) else ()
    return node.value is None or any(_has_null(child) for child in below)
