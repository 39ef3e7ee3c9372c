"""Reading one catalogue file. The packaged ones are ours; a project's is untrusted text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

LARGEST_BYTES = 4 * 2**20
MOST_NODES = 200_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PACKAGED = Path(__file__).resolve().parent


class Unreadable(Exception):
    """A catalogue file that cannot be used; the text says why, without the file's name."""


def read(path: Path) -> Mapping[str, Any]:
    """The mapping that a catalogue file holds; do not change it, it is shared. Raises `Unreadable`."""
    return _read(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=1024)
def _read(path: Path, _changed: int) -> Mapping[str, Any]:
    data = _parsed(path)
    if not isinstance(data, dict):
        raise Unreadable("it holds no mapping")
    if _PACKAGED not in path.parents:
        _bounded(data)
    return data


def _parsed(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise Unreadable(f"it is larger than {LARGEST_BYTES // 2**20} MiB")
        return yaml.load(path.read_text(encoding="utf-8"), _LOADER)
    except OSError as error:
        raise Unreadable(error.strerror or "it cannot be opened") from error
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8 text") from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise Unreadable(f"it is not YAML{place}") from error


def _bounded(data: Any) -> None:
    """Refuse anchors that expand without end: what an alias repeats is counted each time it is met."""
    waiting, nodes = [data], 0
    while waiting:
        node = waiting.pop()
        nodes += 1
        if nodes + len(waiting) > MOST_NODES:
            raise Unreadable(f"it holds more than {MOST_NODES} values")
        if isinstance(node, dict):
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
