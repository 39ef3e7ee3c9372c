"""Reading one catalogue file: the packaged ones with the fast loader, a project's as the untrusted text that it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from planner import source

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PACKAGED = Path(__file__).resolve().parent


class UnreadableError(Exception):
    """A catalogue file that cannot be used; the text says why and where in the file."""


def read(path: Path) -> Mapping[str, Any]:
    """The mapping that a catalogue file holds. It is shared: do not change it. Raises `UnreadableError`."""
    return _read(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=1024)
def _read(path: Path, _changed: int) -> Mapping[str, Any]:
    if _PACKAGED in path.parents:
        data: Mapping[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _LOADER)
        return data
    document, findings = source.load(path, display=path.name)
    if document is None:
        first = findings[0]
        raise UnreadableError(f"{first.location}: {first.message}" if first.location else first.message)
    return document.data
