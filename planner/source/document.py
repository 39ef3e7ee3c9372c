"""A document: plain data, and where every key and value of it was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.findings import Location

NodePath = tuple[str | int, ...]
"""The keys and list indices that lead to a node: ("levers", 0, "format")."""


@dataclass(frozen=True, slots=True)
class Document:
    """One effective document, after `extends`.

    file: the path as the caller named it, with `/`. folder: where it is on disk. root: the project's folder,
    which no reference may leave. data: plain dicts, lists, strings, numbers, booleans, None.
    values, keys: node path -> where the value (the key) was written, which may be another file than `file`.
    sources: the files that it was merged from, the document's own last. sha256: of the effective data's text.
    texts: of plain numbers, as they were written ("0.10"). folders: file as named -> its folder on disk.
    """

    file: str
    folder: Path
    root: Path
    data: Mapping[str, Any]
    values: Mapping[NodePath, Location] = field(default_factory=dict)
    keys: Mapping[NodePath, Location] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    sha256: str = ""
    texts: Mapping[NodePath, str] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        kind = self.data.get("kind")
        return kind if isinstance(kind, str) else ""

    def location(self, path: NodePath, *, key: bool = False) -> Location:
        """Where the value at `path` (or its key) was written; that of the nearest ancestor if it was not."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Location(self.file))

    def pointer(self, path: NodePath) -> str:
        """JSON pointer of `path`, list items addressed by their `name` (or `use`) where they have one."""
        parts: list[str] = []
        node: Any = self.data
        for step in path:
            child = _child(node, step)
            label = str(step)
            if isinstance(step, int) and isinstance(child, dict):
                name = child.get("name", child.get("use"))
                label = name if isinstance(name, str) else label
            parts.append(label.replace("~", "~0").replace("/", "~1"))
            node = child
        return "".join(f"/{part}" for part in parts)


def _child(node: Any, step: str | int) -> Any:
    if isinstance(node, dict):
        return node.get(step)
    return node[step] if isinstance(node, list) and isinstance(step, int) and 0 <= step < len(node) else None
