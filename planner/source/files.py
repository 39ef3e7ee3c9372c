"""A file's text, with limits: only regular files inside the project, only so large, only UTF-8."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from planner.findings import Finding, Location
from planner.quoting import quoted
from planner.source.faults import fault

LARGEST_BYTES = 1024 * 1024


def read_text(path: Path, root: Path, file: str) -> str | Finding:
    """The text of the file at `path`, which must lie inside `root`; or why there is none.

    file: the name to print.
    """
    place = Location(file)
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            return fault("file-outside-project", "the file is a link that leads outside the project", place)
        found = real.stat()
        if stat.S_ISDIR(found.st_mode):
            return fault("file-is-folder", f"{quoted(file)} is a folder, not a file", place)
        if not stat.S_ISREG(found.st_mode):
            return fault("file-not-regular", f"{quoted(file)} is not a regular file", place)
        if found.st_size > LARGEST_BYTES:
            return _too_large(file)
        with real.open("rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as error:
        return _unreadable(error, file)
    return decoded(data, file)


def _too_large(file: str) -> Finding:
    return fault("file-too-large", f"the file is larger than {LARGEST_BYTES // 1024} KiB", Location(file))


def decoded(data: bytes, file: str) -> str | Finding:
    """The text of `data`, or why there is none."""
    if len(data) > LARGEST_BYTES:
        return _too_large(file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8"
        return fault("file-encoding", message, Location(file, line, column), hint="save the file as UTF-8")


def _unreadable(error: Exception, file: str) -> Finding:
    """The finding for what the operating system said. Its own text holds absolute paths, so it is not repeated."""
    number = getattr(error, "errno", None)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return fault("file-not-found", f"there is no file {quoted(file)}", Location(file))
    reasons = {errno.EACCES: "permission denied", errno.ELOOP: "its links run in a circle"}
    reason = reasons.get(number or 0, "its links run in a circle" if isinstance(error, RuntimeError) else "input error")
    return fault("file-unreadable", f"cannot read {quoted(file)}: {reason}", Location(file))
