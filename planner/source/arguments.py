"""Files and folders of a command line to the files to read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from planner.findings import Finding, Location
from planner.quoting import quoted, visible
from planner.source.faults import fault
from planner.source.files import LARGEST_BYTES

# Any version counts: a file of a version that this program does not know must be reported, not passed over.
_OURS = re.compile(rb"""(?:^|[{,])\s*["']?apiVersion["']?\s*:\s*["']?planner/""", re.MULTILINE)


def expand(paths: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[Finding, ...]]:
    """The files that `paths` stand for, each once, in order; and what names nothing.

    A folder stands for every `*.yaml` below it with `apiVersion: planner/…`, sorted, hidden folders left out. Findings:
    `file-not-found`, `file-none-matched`, `file-unreadable`; with any of them not everything could be judged.
    """
    files: dict[Path, None] = {}
    findings: list[Finding] = []
    for path in paths:
        name = visible(path.as_posix())
        if not _is_folder(path):
            if not os.path.lexists(path):
                findings.append(fault("file-not-found", f"there is no file or folder {quoted(name)}", Location(name)))
            else:
                files[path] = None
            continue
        found = tuple(file for file in _below(path, findings) if _ours(file))
        if not found:
            message = f"no *.yaml file below {quoted(name)} has `apiVersion: planner/v1`"
            findings.append(fault("file-none-matched", message, Location(name)))
        files.update(dict.fromkeys(found))
    return tuple(files), tuple(findings)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _below(folder: Path, findings: list[Finding]) -> Iterator[Path]:
    """Every `*.yaml` below `folder`, sorted; links to folders are not followed."""

    def unreadable(error: OSError) -> None:
        name = visible(Path(error.filename or folder).as_posix())
        findings.append(fault("file-unreadable", f"cannot list the folder {quoted(name)}", Location(name)))

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(".yaml") and not name.startswith("."))


def _ours(path: Path) -> bool:
    """Whether the file says that it is for this program. One that cannot be read counts, so that it is reported."""
    try:
        if not path.is_file():
            return path.is_symlink()
        with path.open("rb") as stream:
            return bool(_OURS.search(stream.read(LARGEST_BYTES)))
    except OSError:
        return True
