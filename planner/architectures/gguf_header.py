"""The header of a GGUF file: metadata and what its tensors are. Tensors themselves are never read.

Source: ggml, docs/gguf.md: magic, version, counts, metadata, tensor infos, padding, tensor data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.architectures.gguf_bytes import HeaderBytes, MalformedError
from planner.architectures.gguf_types import TENSOR_TYPES
from planner.domain import formats
from planner.quoting import quoted

_MOST_ELEMENTS = 1 << 50
_MOST_TENSORS = 1 << 20
_SMALLEST_ENTRY = 24
_NAME = re.compile(r"[\w./-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tensor:
    """shape: ggml's order, the contiguous dimension (inputs of a product) first. format: one of ours."""

    name: str
    shape: tuple[int, ...]
    format: str

    @property
    def stored_bytes(self) -> int:
        """Rows times blocks of a row."""
        rows = 1
        for size in self.shape[1:]:
            rows *= size
        return int(formats.known(self.format).stored_bytes(rows, self.shape[0]))


@dataclass(slots=True)
class Header:
    """metadata: without long texts and arrays. missing_bytes: of tensor data that the file should have but has not."""

    metadata: dict[str, Any] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    missing_bytes: int = 0


def read(path: Path) -> Header:
    """Raises `MalformedError` for what is no GGUF header, OSError where the file cannot be read."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        source = HeaderBytes(stream, size)
        tensors, pairs = _start(source)
        header = Header()
        for _ in range(pairs):
            _pair(source, header.metadata)
        end = 0
        for index in range(tensors):
            source.field = f"tensor {index}"
            tensor, offset = _tensor(source)
            header.tensors.append(tensor)
            end = max(end, offset + tensor.stored_bytes)
    alignment = header.metadata.get("general.alignment")
    alignment = alignment if isinstance(alignment, int) and 0 < alignment <= 1 << 20 else 32
    header.missing_bytes = max(0, -(-source.at // alignment) * alignment + end - size) if tensors else 0
    return header


def _start(source: HeaderBytes) -> tuple[int, int]:
    """(tensors, metadata pairs)."""
    if bytes(source.data[source.take(4) : source.at]) != b"GGUF":
        raise MalformedError("magic", "the file does not begin with GGUF")
    source.field = "version"
    version = source.number("I")
    if version & 0xFFFF == 0 and version:
        source.order = ">"
        version = int.from_bytes(version.to_bytes(4, "little"), "big")
    if version not in (2, 3):
        raise MalformedError("version", f"versions 2 and 3 are read, {version} was found")
    source.field = "counts"
    tensors, pairs = source.number("Q"), source.number("Q")
    if tensors > _MOST_TENSORS or (tensors * _SMALLEST_ENTRY + pairs * 12) > source.size:
        raise MalformedError(
            "counts", f"{tensors} tensors and {pairs} pairs of metadata are more than the file can hold"
        )
    return tensors, pairs


def _pair(source: HeaderBytes, metadata: dict[str, Any]) -> None:
    source.field = "metadata key"
    key = source.text()
    if key is None or not key.isprintable():
        raise MalformedError("metadata key", "a key is too long, or not printable")
    source.field = key[:80]
    value = source.value()
    if value is not None:
        metadata[key] = value


def _tensor(source: HeaderBytes) -> tuple[Tensor, int]:
    """(tensor, offset of its data)."""
    name = source.text() or ""
    if not _NAME.fullmatch(name):
        raise MalformedError(source.field, f"the name {quoted(name)} is not one of a tensor")
    source.field = name
    dimensions = source.number("I")
    if not 1 <= dimensions <= 4:
        raise MalformedError(name, f"1 to 4 dimensions are expected, {dimensions} were read")
    shape = tuple(source.number("Q") for _ in range(dimensions))
    elements = 1
    for size in shape:
        elements *= size
    if not 0 < elements <= _MOST_ELEMENTS:
        raise MalformedError(name, f"a shape with 1 to {_MOST_ELEMENTS} values is expected, {elements} were read")
    kind = source.number("I")
    if kind not in TENSOR_TYPES:
        raise MalformedError(name, f"tensor type {kind} is not known")
    return Tensor(name, shape, TENSOR_TYPES[kind]), source.number("Q")
