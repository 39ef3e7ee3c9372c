"""Reading the head of a file in bounds: numbers, texts and arrays, never more of it than a header needs."""

from __future__ import annotations

import re
import struct
from functools import cache
from typing import Any, BinaryIO

MOST_BYTES = 64 * 2**20
"""No more of a file is read. Headers with vocabularies of 260,000 tokens are about 16 MiB."""
LONGEST_TEXT = 1024
LONGEST_ARRAY = 16_384
"""Texts and arrays beyond these are passed over: no figure of a model is in them."""
_MORE = 2 * 2**20
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
_BLOCK = 1024


class MalformedError(Exception):
    """What is wrong with the header, and at which field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class HeaderBytes:
    """A cursor. field: what is being read, for messages. Raises `MalformedError` at lengths beyond the file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream = stream
        self.size = size
        self.data = bytearray()
        self.at = 0
        self.order = "<"
        self.field = "magic"

    def take(self, count: int) -> int:
        """Moves over `count` bytes; where they begin."""
        end = self.at + count
        if end > len(self.data):
            self._fill(end)
        begin, self.at = self.at, end
        return begin

    def _fill(self, end: int) -> None:
        if end > self.size:
            raise MalformedError(self.field, f"{end} bytes are needed, the file has {self.size}: truncated or damaged")
        if end > MOST_BYTES:
            raise MalformedError(self.field, f"the header is longer than {MOST_BYTES // 2**20} MiB")
        wanted = min(max(end, len(self.data) + _MORE), self.size, MOST_BYTES)
        self.data += self.stream.read(wanted - len(self.data))
        if len(self.data) < end:
            raise MalformedError(self.field, "the file ends while it is read")

    def number(self, code: str) -> Any:
        layout = _layout(self.order + code)
        return layout.unpack_from(self.data, self.take(layout.size))[0]

    def text(self) -> str | None:
        """A text; None for one that is too long to be of use."""
        length = self.number("Q")
        begin = self.take(length)
        return bytes(self.data[begin : self.at]).decode("utf-8", "replace") if length <= LONGEST_TEXT else None

    def value(self, depth: int = 0) -> Any:
        """A value after its type: a number, a text, a list of numbers; None for what is passed over."""
        return self._typed(self.number("I"), depth)

    def _typed(self, kind: int, depth: int) -> Any:
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY or depth > 2:
            raise MalformedError(self.field, f"value type {kind} does not exist")
        item, count = self.number("I"), self.number("Q")
        if item in _NUMBERS:
            return self._numbers(_NUMBERS[item], count)
        if item == _TEXT:
            self._skip_texts(count)
            return None
        self._room(count, 12)
        for _ in range(count):
            self._typed(item, depth + 1)
        return None

    def _room(self, count: int, smallest: int) -> None:
        """Refuses a count whose items could not fit before they are walked."""
        if count * smallest > self.size - self.at:
            raise MalformedError(self.field, f"{count} items are longer than the file")

    def _numbers(self, code: str, count: int) -> list[Any] | None:
        size = _layout(self.order + code).size
        self._room(count, size)
        begin = self.take(count * size)
        if count > LONGEST_ARRAY:
            return None
        return list(struct.unpack_from(f"{self.order}{count}{code}", self.data, begin))

    def _skip_texts(self, count: int) -> None:
        """Vocabularies: hundreds of thousands of short texts. Blocks of them are matched at once, others walked."""
        self._room(count, 8)
        while count >= _BLOCK and self.order == "<":
            if len(self.data) - self.at < _BLOCK * 40:
                self._peek(_BLOCK * 40)
            match = _short_texts().match(self.data, self.at)
            if match is None:
                self._walk(_BLOCK)
            else:
                self.at = match.end()
            count -= _BLOCK
        self._walk(count)

    def _peek(self, count: int) -> None:
        end = min(self.at + count, self.size, MOST_BYTES)
        if end > len(self.data):
            self._fill(end)

    def _walk(self, count: int) -> None:
        for _ in range(count):
            self.take(self.number("Q"))


@cache
def _layout(code: str) -> struct.Struct:
    return struct.Struct(code)


@cache
def _short_texts() -> re.Pattern[bytes]:
    """A block of texts of up to 63 bytes, each after its length in 8 bytes; the usual lengths first."""
    lengths = sorted(range(64), key=lambda length: abs(length - 6))
    each = b"|".join(re.escape(bytes([length])) + rb"\0{7}" + b".{%d}" % length for length in lengths)
    return re.compile(b"(?s:(?:" + each + b"){%d}+)" % _BLOCK)
