"""The project's folder, and the references of a spec to other files in it."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from planner.findings import Finding, Location
from planner.quoting import quoted
from planner.source.document import Document
from planner.source.faults import fault

MARKERS = ("planner.yaml", ".git")


def root_of(folder: Path) -> Path:
    """The nearest folder from `folder` upwards with a `planner.yaml` or a `.git`; else `folder` itself. Resolved."""
    return find_root(folder) or folder.resolve()


def find_root(folder: Path) -> Path | None:
    """The same; None where no folder has one."""
    real = folder.resolve()
    for candidate in (real, *real.parents):
        if any(os.path.lexists(candidate / marker) for marker in MARKERS):
            return candidate
    return None


def resolve(reference: str, written: Location, document: Document, *, path: str = "") -> Path | Finding:
    """The existing file that `reference` means, relative to the file in which it was `written`.

    path: JSON pointer of the reference, for the finding. Findings: `reference-not-a-path` (a URL, `~`, an absolute
    path, a variable), `reference-outside-project`, `reference-not-found`.
    """
    folder = document.folders.get(written.file, document.folder)
    return find(reference, folder, document.root, written, path=path)


def find(reference: str, folder: Path, root: Path, written: Location, *, path: str = "") -> Path | Finding:
    """As `resolve`, from a folder of the project at `root`."""
    complaint = _complaint(reference)
    if complaint:
        message = f"{quoted(reference)} is {complaint}"
        return fault("reference-not-a-path", message, written, hint=_RELATIVE, path=path)
    target = folder / reference
    try:
        real = target.resolve()
        if not real.is_relative_to(root):
            message = f"{quoted(reference)} leads outside the project"
            return fault("reference-outside-project", message, written, hint=_INSIDE, path=path)
        if not real.is_file():
            what = "is a folder" if real.is_dir() else "does not exist"
            hint = _nearest(real, reference)
            return fault("reference-not-found", f"the file {quoted(reference)} {what}", written, hint=hint, path=path)
    except (OSError, ValueError, RuntimeError):
        return fault("reference-not-found", f"cannot look up the file {quoted(reference)}", written, path=path)
    return real


_RELATIVE = "write a path relative to this file, such as `./base.yaml`"
_INSIDE = "the project is the nearest folder above with a `planner.yaml` or a git work tree; move the file into it"


def _complaint(reference: str) -> str:
    if not reference or not reference.isprintable():
        return "not a path"
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", reference):
        return "an address; nothing is fetched"
    if reference.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", reference):
        return "an absolute path"
    if reference.startswith("~"):
        return "a path in a home folder"
    return "" if "\\" not in reference else "written with `\\`; write `/`"


def _nearest(real: Path, reference: str) -> str:
    """The file of the same folder whose name is nearest, as a hint."""
    try:
        names = sorted(item.name for item in os.scandir(real.parent) if item.is_file())[:1000]
    except OSError:
        return ""
    close = difflib.get_close_matches(real.name, names, n=1)
    return f"did you mean {quoted(reference.removesuffix(real.name) + close[0])}?" if close else ""
