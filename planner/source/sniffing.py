"""Whether a YAML file of a folder is for this program: what looks like a spec is judged, never passed over."""

from __future__ import annotations

import re
from pathlib import Path

from planner.source.files import LARGEST_BYTES

# Any version counts: a file of a version that this program does not know must be reported, not passed over.
_OURS = re.compile(r"""(?:^|[{,])\s*["']?api[-_ ]?version["']?\s*:\s*["']?planner\b""", re.MULTILINE | re.IGNORECASE)
_KEY = r"""["']?(?:%s)["']?\s*:(?:\s|$)"""
_FOREIGN, _ALIKE = "apiVersion", "(?i:kind|model|hardware|engine|workload|api[-_ ]?version)"
_FLOW = re.compile(r"\A(?:\s|#[^\n]*\n|---)*\{")


def is_ours(path: Path) -> bool:
    """Whether the file is, or looks like, a planner document. One that cannot be read counts, so that it is reported.

    It is one with `apiVersion: planner/…`, however the key is written. It looks like one with a section of ours or a
    `kind` at its top, and no `apiVersion` of another program.
    """
    try:
        if not path.is_file():
            return path.is_symlink()
        with path.open("rb") as stream:
            data = stream.read(LARGEST_BYTES)
    except OSError:
        return True
    text = _text(data)
    return text is None or bool(_OURS.search(text)) or _alike(text)


def _text(data: bytes) -> str | None:
    """As UTF-8, with or without a byte order mark; None where it is anything else."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cut = len(data) == LARGEST_BYTES and error.start >= LARGEST_BYTES - 3
        return data[: error.start].decode("utf-8-sig") if cut else None
    return None if "\0" in text else text


def _alike(text: str) -> bool:
    before = r"[{,]\s*" if _FLOW.match(text) else "^"
    if re.search(before + _KEY % _FOREIGN, text, re.MULTILINE):
        return False
    return bool(re.search(before + _KEY % _ALIKE, text, re.MULTILINE))
