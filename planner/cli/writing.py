"""Where text goes: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from planner.quoting import visible


class CouldNotError(click.ClickException):
    """What was asked for could not be done: exit status 2."""

    exit_code = 2


def write(text: str, output: Path | None = None) -> None:
    """To standard output as UTF-8, or whole to a file. Raises CouldNotError.

    A reader that has read enough (`| head -1`) is no failure: the rest is dropped, and the exit status stays what
    was judged.
    """
    if output is not None:
        write_whole(output, text)
        return
    if sys.stdout is None:
        raise CouldNotError("cannot write: standard output is closed; use --output")
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        discard()
    except OSError as error:
        discard()
        raise CouldNotError(f"cannot write to standard output: {error.strerror}") from error


def discard() -> None:
    """Drop what standard output still holds, so that leaving does not try to write it again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_whole(path: Path, text: str) -> None:
    """A file written whole or not at all: beside its place first, then moved there. Raises CouldNotError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        temporary.replace(path)
    except OSError as error:
        raise CouldNotError(f"cannot write {visible(path.as_posix())}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
