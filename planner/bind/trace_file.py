"""Recorded requests on disk: CSV or JSON Lines, gzipped or not, with our column names or those of published traces.

| trace | time | tokens in, out | more |
| --- | --- | --- | --- |
| this tool | `arrival_s`, seconds | `input_tokens`, `output_tokens` | `hash_ids`, `session` |
| Azure LLM inference 2023, 2024 | `TIMESTAMP`, date and time | `ContextTokens`, `GeneratedTokens` | |
| BurstGPT | `Timestamp`, seconds | `Request tokens`, `Response tokens` | |
| Mooncake | `timestamp`, milliseconds | `input_length`, `output_length` | `hash_ids` of 512 tokens |
| Qwen-Bailian | `timestamp`, seconds | `input_length`, `output_length` | `hash_ids` of 16 tokens, `chat_id` |
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import zlib
from array import array
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from planner.domain.trace import Trace
from planner.findings import Finding, Location, Severity, Verdict

LARGEST_BYTES = 1 << 30
"""Of the text, unpacked."""
LARGEST_LINE = 1 << 20
MOST_ROWS = 5_000_000
ARRIVALS = ("arrival_s", "t_s", "timestamp", "TIMESTAMP", "Timestamp")
INPUTS = ("input_tokens", "input_length", "ContextTokens", "Request tokens")
OUTPUTS = ("output_tokens", "output_length", "GeneratedTokens", "Response tokens")
HINT = "Columns: arrival_s, input_tokens, output_tokens; or those of the Azure, BurstGPT, Mooncake or Bailian traces."


class _UnreadableError(Exception):
    """What is wrong, and on which line."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def read_trace(file: Path, *, name: str) -> tuple[Trace | None, tuple[Finding, ...]]:
    """The requests of a file in order of arrival, or why they cannot be read. name: what findings call it."""
    try:
        return _read(file, name), ()
    except _UnreadableError as error:
        return None, (_fault(name, str(error), error.line),)
    except (OSError, EOFError, zlib.error) as error:
        return None, (_fault(name, f"cannot be read ({type(error).__name__})", 1),)


def _read(file: Path, name: str) -> Trace:
    with file.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
        return _trace(_rows(_lines(stream)), name)


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Numbered lines of text, within bounds."""
    total, number = 0, 0
    while True:
        line = stream.readline(LARGEST_LINE + 1)
        if not line:
            return
        number += 1
        total += len(line)
        if len(line) > LARGEST_LINE:
            raise _UnreadableError(f"has a line longer than {LARGEST_LINE:,} bytes", number)
        if total > LARGEST_BYTES:
            raise _UnreadableError(f"holds more than {LARGEST_BYTES:,} bytes of text", number)
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise _UnreadableError("is not text in UTF-8", number) from None


def _rows(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    first = next(lines, None)
    if first is None or not first[1].strip():
        raise _UnreadableError("is empty")
    if first[1].lstrip().startswith("{"):
        yield from _json_rows(first, lines)
        return
    names = [item.strip() for item in next(csv.reader(io.StringIO(first[1])))]
    for number, line in lines:
        if line.strip():
            yield number, dict(zip(names, next(csv.reader((line,))), strict=False))


def _json_rows(first: tuple[int, str], lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    def parsed(number: int, line: str) -> Mapping[str, Any]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise _UnreadableError("holds a line that is not JSON", number) from None
        if not isinstance(value, dict):
            raise _UnreadableError("holds a line that is no JSON object", number)
        return value

    yield first[0], parsed(*first)
    for number, line in lines:
        if line.strip():
            yield number, parsed(number, line)


def _trace(rows: Iterator[tuple[int, Mapping[str, Any]]], name: str) -> Trace:
    """Columns in order of arrival; the first request comes at 0."""
    arrivals, inputs, outputs = array("d"), array("q"), array("q")
    prefixes: list[tuple[int, ...]] = []
    sessions: list[int] = []
    known: dict[str, int] = {}
    block, scale = 512, 1.0
    keys: tuple[str, str, str] | None = None
    for number, row in rows:
        if keys is None:
            keys = _keys(row, number)
            bailian = "chat_id" in row
            block = 16 if bailian else 512
            scale = 1e-3 if keys[0] == "timestamp" and keys[1] == "input_length" and not bailian else 1.0
        if len(arrivals) >= MOST_ROWS:
            raise _UnreadableError(f"holds more than {MOST_ROWS:,} requests", number)
        arrivals.append(_time(row.get(keys[0]), number) * scale)
        inputs.append(_tokens(row.get(keys[1]), keys[1], number))
        outputs.append(_tokens(row.get(keys[2]), keys[2], number))
        if row.get("hash_ids") not in (None, ""):
            prefixes.append(_hashes(row["hash_ids"], number))
        session = row.get("session", row.get("chat_id"))
        if session not in (None, ""):
            sessions.append(known.setdefault(str(session), len(known)))
    if not arrivals:
        raise _UnreadableError("holds no request")
    if prefixes and len(prefixes) != len(arrivals):
        raise _UnreadableError("has hash_ids for some requests and not for others")
    return _sorted(arrivals, inputs, outputs, prefixes, sessions if len(sessions) == len(arrivals) else [], block, name)


def _sorted(
    arrivals: array[float], inputs: array[int], outputs: array[int], prefixes: list[tuple[int, ...]],
    sessions: list[int], block: int, name: str,
) -> Trace:  # fmt: skip
    order = sorted(range(len(arrivals)), key=arrivals.__getitem__)
    first = arrivals[order[0]]
    return Trace(
        arrival_s=array("d", (arrivals[index] - first for index in order)),
        input_tokens=array("q", (inputs[index] for index in order)),
        output_tokens=array("q", (outputs[index] for index in order)),
        prefixes=[prefixes[index] for index in order] if prefixes else (),
        sessions=[sessions[index] for index in order] if sessions else (),
        block_tokens=block,
        source=name,
    )


def _keys(row: Mapping[str, Any], number: int) -> tuple[str, str, str]:
    found = [next((name for name in names if name in row), None) for names in (ARRIVALS, INPUTS, OUTPUTS)]
    missing = [
        wanted
        for wanted, name in zip(("arrival_s", "input_tokens", "output_tokens"), found, strict=True)
        if name is None
    ]
    if missing:
        read = ", ".join(sorted(str(name) for name in row)[:8])
        raise _UnreadableError(f"has no column {', '.join(missing)} (columns read: {read})", number)
    return str(found[0]), str(found[1]), str(found[2])


def _time(value: Any, number: int) -> float:
    """Seconds, or a date and time."""
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = _clock(value)
    if not math.isfinite(seconds):
        raise _UnreadableError(f"has a time that is none: {str(value)[:40]!r}", number)
    return seconds


def _clock(value: Any) -> float:
    """ "2023-11-16 18:17:03.9799600": seven digits of a second, of which six are kept."""
    text = str(value).strip()
    head, _, digits = text.partition(".")
    digits = "".join(character for character in digits if character.isdigit())[:6]
    try:
        found = datetime.fromisoformat(f"{head}.{digits:0<6}" if digits else head)
    except ValueError:
        return math.nan
    return (found.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()


def _tokens(value: Any, column: str, number: int) -> int:
    try:
        tokens = float(value)
    except (TypeError, ValueError):
        tokens = math.nan
    if not (0 <= tokens <= 1e9 and tokens == int(tokens)):
        raise _UnreadableError(f"has {str(value)[:40]!r} in {column}: a whole number of tokens is expected", number)
    return int(tokens)


def _hashes(value: Any, number: int) -> tuple[int, ...]:
    """A JSON list, or numbers with blanks or semicolons between them."""
    items = value if isinstance(value, list) else str(value).strip("[] ").replace(";", " ").replace(",", " ").split()
    try:
        return tuple(int(item) for item in items)
    except (TypeError, ValueError, OverflowError):
        raise _UnreadableError("has hash_ids that are no whole numbers", number) from None


def _fault(name: str, what: str, line: int) -> Finding:
    return Finding(
        "trace-not-read",
        Severity.ERROR,
        f"{name} {what}",
        HINT,
        location=Location(name, line, 1),
        verdict=Verdict.INVALID,
    )
