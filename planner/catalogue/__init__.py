"""The catalogue: one file an item, found by its file's name. Only the files that a spec names are read.

A project's own folders (`catalogue:` in planner.yaml) come before the packaged one. An item of a project is
`<folder>/<kind>/<name>.yaml`, or `<folder>/<name>.yaml` with its `kind`. In a file's name `--` stands for `/`.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner.catalogue.reading import UnreadableError, read

__all__ = [
    "KINDS",
    "UnreadableError",
    "accelerator_ids",
    "digest",
    "digest_of",
    "engine_ids",
    "entry",
    "find",
    "model_ids",
    "names",
    "nearest",
    "read",
    "suggest",
]

PACKAGED = Path(__file__).resolve().parent
KINDS = {
    "accelerators": "Accelerator",
    "models": "Model",
    "engines": "Engine",
    "generations": "Generation",
    "collectives": "Collective",
    "acceptance": "Acceptance",
}
_KIND_LINE = re.compile(r"^kind:\s*([A-Za-z]+)\s*(?:#.*)?$", re.MULTILINE)
_HEAD = 4096


def accelerator_ids(folders: Iterable[Path] = ()) -> tuple[str, ...]:
    """Names of the accelerators, sorted, from the folders' listings alone."""
    return names("accelerators", folders)


def model_ids(folders: Iterable[Path] = ()) -> tuple[str, ...]:
    """Names of the models as the hub writes them (`owner/name`), sorted."""
    return names("models", folders)


def engine_ids(folders: Iterable[Path] = ()) -> tuple[str, ...]:
    """Names of the engines that have measured figures."""
    return names("engines", folders)


def names(kind: str, folders: Iterable[Path] = ()) -> tuple[str, ...]:
    """Names of one kind (a key of `KINDS`): the project's and the packaged ones, sorted without case."""
    return tuple(sorted((path.stem.replace("--", "/") for path in _index(kind, folders).values()), key=str.lower))


def find(kind: str, name: str, folders: Iterable[Path] = ()) -> Path | None:
    """The file of an item, or None. Upper and lower case are one; a name never leads out of the folders."""
    return _index(kind, folders).get(name.replace("/", "--").lower())


def entry(kind: str, name: str, folders: Iterable[Path] = ()) -> Mapping[str, Any] | None:
    """What the file of an item holds, None where there is no such item. Raises `UnreadableError`."""
    path = find(kind, name, folders)
    return None if path is None else read(path)


def digest(kind: str, name: str, folders: Iterable[Path] = ()) -> str | None:
    """SHA-256 of an item's content, None where there is no such item. Comments and layout do not change it."""
    document = entry(kind, name, folders)
    return None if document is None else digest_of(document)


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, in hexadecimal: the same for any order of keys."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def suggest(kind: str, name: str, folders: Iterable[Path] = (), count: int = 3) -> tuple[str, ...]:
    """The nearest names of one kind, best first."""
    return nearest(name, names(kind, folders), count)


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The nearest of `known` to `name`, best first: by spelling, then those that hold it or its last part."""
    spelled = {item.lower(): item for item in known}
    wanted = name.lower()[:200]
    near = difflib.get_close_matches(wanted, spelled, count, 0.6)
    part = wanted.rsplit("/", 1)[-1]
    holding = [item for item in spelled if part and (part in item or item.rsplit("/", 1)[-1] in wanted)]
    return tuple(spelled[item] for item in dict.fromkeys([*near, *sorted(holding, key=len)]))[:count]


def _index(kind: str, folders: Iterable[Path]) -> dict[str, Path]:
    """{lower-case stem: file}, the project's folders over the packaged one, the first folder over the next."""
    index = dict(_packaged(kind))
    for folder in reversed(tuple(folders)):
        index.update(_listed(folder, kind, _changed(folder, kind)))
    return index


@lru_cache(maxsize=16)
def _packaged(kind: str) -> dict[str, Path]:
    return {path.stem.lower(): path for path in sorted((PACKAGED / kind).glob("*.yaml"))}


def _changed(folder: Path, kind: str) -> tuple[int, ...]:
    """When the listings last changed: `planner watch` sees a new file."""
    return tuple(path.stat().st_mtime_ns if path.is_dir() else 0 for path in (folder, folder / kind))


@lru_cache(maxsize=256)
def _listed(folder: Path, kind: str, _at: tuple[int, ...]) -> dict[str, Path]:
    flat = {path.stem.lower(): path for path in sorted(folder.glob("*.yaml")) if _kind_of(path) == KINDS[kind]}
    return flat | {path.stem.lower(): path for path in sorted((folder / kind).glob("*.yaml"))}


def _kind_of(path: Path) -> str:
    """The `kind` that the head of a file names; "" where it names none or cannot be read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return ""
    found = _KIND_LINE.search(head)
    return found[1] if found else ""
