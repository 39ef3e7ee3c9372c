"""A file, with the files that it extends, to one Document."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from planner.findings import Finding, Location
from planner.quoting import quoted, visible
from planner.source import reader
from planner.source.document import Document
from planner.source.faults import fault
from planner.source.files import decoded, read_text
from planner.source.merging import Merger
from planner.source.node import Flat, Node, digest, flatten
from planner.source.project import find, root_of

LONGEST_CHAIN = 10
Loaded = tuple[Document | None, tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class _File:
    """path: as found, links not followed. name: to print."""

    path: Path
    name: str


def load(path: Path, *, display: str | None = None) -> Loaded:
    """The document in the file at `path`, merged over what it extends; or the findings that say why there is none.

    display: the name to print in place of `path`. Warnings may come beside a document.
    """
    name = visible(display if display is not None else path.as_posix())
    try:
        folder = path.parent.resolve()
        root = root_of(folder)
    except (OSError, RuntimeError, ValueError):
        return None, (fault("file-not-found", f"there is no file {quoted(name)}", Location(name)),)
    text = read_text(folder / path.name, root, name)
    if isinstance(text, Finding):
        return None, (text,)
    return _loaded(text, _File(folder / path.name, name), root)


def parse(text: str, *, file: str = "<text>", folder: Path | None = None) -> Loaded:
    """As `load`, of text that is in no file; `folder` is where its references start, by default the working folder."""
    where = (folder or Path()).resolve()
    return _loaded(text, _File(where / "-", file), root_of(where))


def parse_bytes(data: bytes, *, file: str) -> Loaded:
    """As `parse`, of bytes that come from no file, with the limits of files."""
    text = decoded(data, file)
    return (None, (text,)) if isinstance(text, Finding) else parse(text, file=file)


def _loaded(text: str, file: _File, root: Path) -> Loaded:
    """The document of `text` with its chain of bases merged, nearest last."""
    chain: list[tuple[_File, Node]] = []
    current: _File | None = file
    while current is not None:
        node, findings = (_base_read if chain else reader.read)(text, current.name)
        if node is None:
            return None, findings
        if not isinstance(node.value, dict):
            return None, (_not_a_map(node),)
        chain.append((current, node))
        foreign = _foreign_kind(chain)
        if foreign is not None:
            return None, (foreign,)
        step = _base(chain, root)
        if isinstance(step, Finding):
            return None, (step,)
        current, text = step or (None, "")
    return _merged(chain, root)


@lru_cache(maxsize=4)
def _base_read(text: str, name: str) -> tuple[Node | None, tuple[Finding, ...]]:
    """As `reader.read`, of a base: many specs extend the same one. Nodes never change, so that they may be shared."""
    return reader.read(text, name)


def _not_a_map(node: Node) -> Finding:
    place = Location(*node.place)
    if node.value is None:
        return fault("yaml-empty", "the file is empty", place, hint="`planner init` writes a spec to start from")
    what = "a list" if isinstance(node.value, list) else "a single value"
    message = f"the file holds {what}; a map of keys is expected"
    return fault("yaml-not-a-map", message, place, hint="write `key: value` lines")


def _base(chain: list[tuple[_File, Node]], root: Path) -> tuple[_File, str] | Finding | None:
    """The file that the last of `chain` extends, and its text; None where it extends nothing."""
    file, node = chain[-1]
    assert isinstance(node.value, dict)
    reference = node.value.get("extends")
    if reference is None:
        return None
    place = Location(*reference.place)
    if not isinstance(reference.value, str):
        message = "`extends` takes the path of one file"
        return fault("extends-not-a-path", message, place, hint="extends: ./base.yaml", path="/extends")
    path = find(reference.value, file.path.parent, root, place, path="/extends")
    if isinstance(path, Finding):
        return path
    known = next((other for other, _ in chain if other.path.resolve() == path.resolve()), None)
    if known is not None:
        message = f"{quoted(file.name)} extends {quoted(known.name)}, which extends it in turn"
        message = "the file extends itself" if known is file else message
        return fault("extends-cycle", message, place, hint="one of the two must stand alone", path="/extends")
    if len(chain) >= LONGEST_CHAIN:
        message = f"more than {LONGEST_CHAIN} files extend one another"
        return fault("extends-depth", message, place, path="/extends")
    base = _File(path, visible(_beside(file.name, reference.value)))
    text = read_text(path, root, base.name)
    return text if isinstance(text, Finding) else (base, text)


def _beside(name: str, reference: str) -> str:
    """The name to print for a file that `reference`, written in the file `name`, means."""
    return Path(os.path.normpath(Path(name).parent / reference)).as_posix()


def _foreign_kind(chain: list[tuple[_File, Node]]) -> Finding | None:
    """A finding where the last of `chain` is neither a Base nor of the kind of the file that extends it."""
    own, kind = (_scalar(node, "kind") for _, node in (chain[0], chain[-1]))
    if len(chain) == 1 or own is None or kind in (None, "Base", own):
        return None
    reference = chain[-2][1].value
    assert isinstance(reference, dict)
    message = f"a {quoted(own)} cannot extend {quoted(chain[-1][0].name)}, which is a {quoted(kind)}"
    hint = "extend a file of `kind: Base` or of the same kind"
    return fault("extends-kind", message, Location(*reference["extends"].place), hint=hint, path="/extends")


def _scalar(node: Node, key: str) -> object:
    child = node.value.get(key) if isinstance(node.value, dict) else None
    return child.value if child is not None else None


def _merged(chain: list[tuple[_File, Node]], root: Path) -> Loaded:
    own, _ = chain[0]
    merger = Merger()
    merged = _body(chain[-1][1], inherited=len(chain) > 1)
    for file, overlay in reversed(chain[:-1]):
        merged = merger.over(merged, _body(overlay, inherited=file is not own))
    flat = Flat()
    data = flatten(merged, flat)
    document = Document(
        file=own.name,
        folder=own.path.parent,
        root=root,
        data=data,
        values=flat.values,
        keys=flat.keys,
        sources=tuple(file.name for file, _ in reversed(chain)),
        sha256=digest(data),
        texts=flat.texts,
        folders={file.name: file.path.parent for file, _ in chain},
    )
    return document, tuple(merger.findings)


def _body(node: Node, *, inherited: bool) -> Node:
    """`node` without `extends`; and without `kind: Base` where others inherit it.

    A spec that names no kind must not become a Base by inheritance, and so pass unjudged.
    """
    assert isinstance(node.value, dict)
    dropped = {"extends"} | ({"kind"} if inherited and _scalar(node, "kind") == "Base" else set())
    children = {key: child for key, child in node.value.items() if key not in dropped}
    return Node(children, node.place, {key: node.keys[key] for key in children})
