"""A document changed by a map laid over it, with every value keeping the line it came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from planner.findings import Finding, Location
from planner.source.document import Document, NodePath
from planner.source.merging import Merger
from planner.source.node import Flat, Node, Place, digest, flatten

Found = TypeVar("Found")


def merge(
    document: Document,
    overlay: Mapping[str, Any],
    *,
    written_at: NodePath | None = None,
    place: Location | None = None,
    warnings: list[Finding] | None = None,
) -> Document:
    """`overlay` laid over `document` as `extends` lays one file over another.

    written_at: where in the document the overlay itself stands (("levers", 2, "set")), so that its values keep their
    lines. place: where it was written if that is elsewhere. warnings: takes what was probably not meant.
    """
    at = place or document.location(written_at or ())
    above = _node(document, dict(overlay), written_at, (at.file, at.line, at.column))
    merger = Merger()
    merged = merger.over(_sections(document, overlay.keys()), above)
    if warnings is not None:
        warnings.extend(merger.findings)
    return _with_sections(document, merged, overlay.keys())


def _sections(document: Document, names: Collection[str]) -> Node:
    """The nodes of `document` with only the sections `names` built up, the rest empty."""
    found = document.location(())
    place: Place = (found.file, found.line, found.column)
    children = {
        key: _node(document, value, (key,), place) if key in names else Node(None, place)
        for key, value in document.data.items()
    }
    return Node(children, place, {key: _key_place(document, (), key, place) for key in children})


def _with_sections(document: Document, root: Node, names: Collection[str]) -> Document:
    """`document` with its sections `names` as in `root`; the others, which may be long, are taken over as they are."""
    assert isinstance(root.value, dict)
    flat = Flat()
    changed = {key: child for key, child in root.value.items() if key in names}
    data = flatten(Node(changed, root.place, root.keys), flat)
    data = {key: data[key] if key in names else document.data[key] for key in root.value}
    return dataclasses.replace(
        document,
        data=data,
        values=_outside(document.values, names) | flat.values,
        keys=_outside(document.keys, names) | flat.keys,
        texts=_outside(document.texts, names) | flat.texts,
        sha256=digest(data),
    )


def _outside(table: Mapping[NodePath, Found], names: Collection[str]) -> dict[NodePath, Found]:
    """What `table` says of other sections than `names`."""
    return {path: found for path, found in table.items() if path and path[0] not in names}


def tree(document: Document) -> Node:
    """The nodes of `document`."""
    return _node(document, document.data, (), (document.file, 1, 1))


def relaid(document: Document, root: Node) -> Document:
    """`document` with other data."""
    flat = Flat()
    data = flatten(root, flat)
    return dataclasses.replace(
        document, data=data, values=flat.values, keys=flat.keys, texts=flat.texts, sha256=digest(data)
    )


def _node(document: Document, data: Any, path: NodePath | None, place: Place) -> Node:
    """The tree of `data`; places from the document's tables at `path`, or all `place` where that is None."""
    found = document.values.get(path) if path is not None else None
    here = (found.file, found.line, found.column) if found is not None else place

    def below(step: str | int, child: Any) -> Node:
        return _node(document, child, (*path, step) if path is not None else None, here)

    if isinstance(data, Mapping):
        children = {key: below(key, child) for key, child in data.items()}
        return Node(children, here, {key: _key_place(document, path, key, here) for key in data})
    if isinstance(data, (list, tuple)):
        return Node([below(index, child) for index, child in enumerate(data)], here)
    return Node(data, here, text=document.texts.get(path) if path is not None else None)


def _key_place(document: Document, path: NodePath | None, key: str, place: Place) -> Place:
    found = document.keys.get((*path, key)) if path is not None else None
    return (found.file, found.line, found.column) if found is not None else place
