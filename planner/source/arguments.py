"""Files and folders of a command line to the files to read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from planner.findings import Finding, Location
from planner.quoting import quoted, visible
from planner.source.faults import fault
from planner.source.sniffing import is_ours

STDIN = Path("-")
SUFFIXES = (".yaml", ".yml")


def expand(paths: Iterable[Path], skipped: list[Path] | None = None) -> tuple[tuple[Path, ...], tuple[Finding, ...]]:
    """The files that `paths` stand for, each once, in order; and what names nothing.

    A folder stands for every YAML file below it that is a planner document, looks like one, or cannot be read; sorted,
    hidden folders left out. `-` stands for standard input. skipped: takes the other YAML files. Findings:
    `file-not-found`, `file-none-matched`, `file-unreadable`; with any of them not everything could be judged.
    """
    files: dict[Path, None] = {}
    findings: list[Finding] = []
    for path in paths:
        name = visible(path.as_posix())
        if path == STDIN:
            files[path] = None
            continue
        if not _is_folder(path):
            if not os.path.lexists(path):
                findings.append(fault("file-not-found", f"there is no file or folder {quoted(name)}", Location(name)))
            else:
                files[path] = None
            continue
        found: list[Path] = []
        others: list[Path] = []
        for file in _below(path, findings):
            (found if is_ours(file) else others).append(file)
        if skipped is not None:
            skipped.extend(others)
        if not found:
            message = f"no YAML file below {quoted(name)} has `apiVersion: planner/v1`"
            findings.append(fault("file-none-matched", message, Location(name)))
        files.update(dict.fromkeys(found))
    return tuple(files), tuple(findings)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _below(folder: Path, findings: list[Finding]) -> Iterator[Path]:
    """Every YAML file below `folder`, sorted; links to folders are not followed."""

    def unreadable(error: OSError) -> None:
        name = visible(Path(error.filename or folder).as_posix())
        findings.append(fault("file-unreadable", f"cannot list the folder {quoted(name)}", Location(name)))

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen = (name for name in sorted(names) if name.lower().endswith(SUFFIXES) and not name.startswith("."))
        yield from (Path(parent, name) for name in seen)
