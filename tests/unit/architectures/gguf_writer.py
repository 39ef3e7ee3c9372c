"""Writes GGUF headers for tests, byte by byte from ggml's docs/gguf.md. Tensor data is a hole of the right length."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# ggml_type: (number, values of a block, bytes of a block), from ggml.h and ggml-common.h.
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144),
         "Q6_K": (14, 256, 210), "BF16": (30, 1, 2), "MXFP4": (39, 32, 17)}  # fmt: skip
ALIGNMENT = 32

Tensors = Sequence[tuple[str, tuple[int, ...], str]]


def text(value: str, order: str = "<") -> bytes:
    raw = value.encode()
    return struct.pack(order + "Q", len(raw)) + raw


def value(item: Any, order: str = "<") -> bytes:
    """A value with its type: bool 7, text 8, float 6, whole number 4 (uint32); lists are arrays of these."""
    if isinstance(item, bool):
        return struct.pack(order + "I?", 7, item)
    if isinstance(item, str):
        return struct.pack(order + "I", 8) + text(item, order)
    if isinstance(item, float):
        return struct.pack(order + "If", 6, item)
    if isinstance(item, int):
        return struct.pack(order + "II", 4, item)
    kind = struct.unpack(order + "I", value(item[0], order)[:4])[0]
    return struct.pack(order + "IIQ", 9, kind, len(item)) + b"".join(value(each, order)[4:] for each in item)


def tensor_bytes(shape: tuple[int, ...], kind: str) -> int:
    _, block, size = TYPES[kind]
    total = size * shape[0] // block
    for rows in shape[1:]:
        total *= rows
    return total


def header(metadata: Mapping[str, Any], tensors: Tensors, *, version: int = 3, order: str = "<") -> bytes:
    out = [b"GGUF", struct.pack(order + "IQQ", version, len(tensors), len(metadata))]
    out += [text(key, order) + value(item, order) for key, item in metadata.items()]
    offset = 0
    for name, shape, kind in tensors:
        out.append(text(name, order) + struct.pack(order + "I", len(shape)))
        out.append(struct.pack(f"{order}{len(shape)}Q", *shape) + struct.pack(order + "IQ", TYPES[kind][0], offset))
        offset += -(-tensor_bytes(shape, kind) // ALIGNMENT) * ALIGNMENT
    return b"".join(out)


def write(path: Path, metadata: Mapping[str, Any], tensors: Tensors, **form: Any) -> Path:
    """The file with its header, and as long as its tensors make it (a hole, which takes no disk)."""
    raw = header(metadata, tensors, **form)
    data = sum(-(-tensor_bytes(shape, kind) // ALIGNMENT) * ALIGNMENT for _, shape, kind in tensors)
    path.write_bytes(raw)
    with path.open("r+b") as stream:
        stream.truncate(-(-len(raw) // ALIGNMENT) * ALIGNMENT + data)
    return path


def decoder(
    arch: str, layers: int, hidden: int, heads: int, kv_heads: int, head_dim: int, width: int, vocabulary: int,
    *, kind: str = "F16", table: str | None = None, tied: bool = False, **more: Any,
) -> tuple[dict[str, Any], list[tuple[str, tuple[int, ...], str]]]:  # fmt: skip
    """Metadata and tensors of a decoder like Llama; shapes in ggml's order, inputs first."""
    metadata = {
        "general.architecture": arch,
        "general.name": "test",
        f"{arch}.block_count": layers,
        f"{arch}.context_length": 8192,
        f"{arch}.embedding_length": hidden,
        f"{arch}.feed_forward_length": width,
        f"{arch}.attention.head_count": heads,
        f"{arch}.attention.head_count_kv": kv_heads,
        f"{arch}.attention.key_length": head_dim,
        f"{arch}.attention.value_length": head_dim,
        **{f"{arch}.{key}": item for key, item in more.items()},
    }
    table = table or kind
    tensors = [("token_embd.weight", (hidden, vocabulary), table), ("output_norm.weight", (hidden,), "F32")]
    if not tied:
        tensors.append(("output.weight", (hidden, vocabulary), table))
    for layer in range(layers):
        at = f"blk.{layer}."
        tensors += [
            (at + "attn_norm.weight", (hidden,), "F32"),
            (at + "attn_q.weight", (hidden, heads * head_dim), kind),
            (at + "attn_k.weight", (hidden, kv_heads * head_dim), kind),
            (at + "attn_v.weight", (hidden, kv_heads * head_dim), kind),
            (at + "attn_output.weight", (heads * head_dim, hidden), kind),
            (at + "ffn_norm.weight", (hidden,), "F32"),
            (at + "ffn_gate.weight", (hidden, width), kind),
            (at + "ffn_up.weight", (hidden, width), kind),
            (at + "ffn_down.weight", (width, hidden), kind),
        ]
    return metadata, tensors
