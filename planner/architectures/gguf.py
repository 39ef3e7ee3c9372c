"""A GGUF file into a Model, from its header alone: every tensor is a weight of its own shape and type.

Parameters and bytes therefore are the file's to the unit whatever the architecture; metadata says what is cached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from planner.architectures import gguf_header, gguf_layers, gguf_weights
from planner.architectures.gguf_bytes import MalformedError
from planner.architectures.gguf_fields import GgufFields, error
from planner.architectures.gguf_header import Header, Tensor
from planner.architectures.gguf_types import FILE_TYPES
from planner.domain.model import LayerGroup, Model, Weight
from planner.findings import Finding, Severity

_BLOCK = re.compile(r"blk\.(\d{1,4})\.(.+)")
_PART = re.compile(r"(.*-)(\d{5})-of-(\d{5})\.gguf")
_NO_DECODERS = ("clip", "bert", "nomic-bert", "jina-bert-v2", "t5encoder", "wavtokenizer-dec")
_MOST_PARTS = 256


def read_gguf(path: Path, *, name: str | None = None) -> tuple[Model | None, list[Finding]]:
    """The model of a GGUF file (or of all parts of a split one), and what there is to say about it.

    None with an error where the header is damaged or lacks a size. Raises OSError where a file cannot be read.
    """
    try:
        header = _whole(path)
    except MalformedError as problem:
        return None, [
            error(problem.field, "malformed", problem.message, "Download the file again, or convert it anew.")
        ]
    fields = GgufFields(header.metadata, _dtype(header.tensors))
    if fields.architecture in _NO_DECODERS:
        said = f"{fields.architecture} is no decoder: give the language model's file"
        return None, [error("general.architecture", "architecture", said)]
    if fields.problems:
        return None, fields.problems
    model = _model(header, fields, name or _name(header, path))
    if model is None or fields.problems:
        return None, fields.problems or [error("tensors", "tensors", "the file holds no token_embd or no layers")]
    return model, _warnings(header, fields)


def _whole(path: Path) -> Header:
    """The header, with the tensors of the other parts that lie beside the first."""
    header = gguf_header.read(path)
    parts = header.metadata.get("split.count")
    if not isinstance(parts, int) or parts < 2:
        return header
    match = _PART.fullmatch(path.name)
    if match is None or int(match[3]) != parts or parts > _MOST_PARTS:
        raise MalformedError(
            "split.count", f"the file is one of {parts} parts, but not named …-00001-of-{parts:05}.gguf"
        )
    for part in range(1, parts + 1):
        beside = path.with_name(f"{match[1]}{part:05}-of-{parts:05}.gguf")
        if beside.name == path.name:
            continue
        if not beside.is_file():
            raise MalformedError("split.count", f"the file is one of {parts} parts; part {part} is not beside it")
        other = gguf_header.read(beside)
        header.tensors += other.tensors
        header.missing_bytes += other.missing_bytes
        header.metadata = {**other.metadata, **header.metadata}
    return header


def _dtype(tensors: Iterable[Tensor]) -> str:
    """bf16 where the file holds it, else fp16: what products run in, and what goes without saying."""
    return "bf16" if any(tensor.format == "bf16" for tensor in tensors) else "fp16"


def _name(header: Header, path: Path) -> str:
    found = header.metadata.get("general.name")
    return found[:200] if isinstance(found, str) and found.isprintable() and found.strip() else path.stem


def _model(header: Header, fields: GgufFields, name: str) -> Model | None:
    blocks: dict[int, list[tuple[str, Tensor]]] = {}
    around: dict[str, Tensor] = {}
    for tensor in header.tensors:
        match = _BLOCK.fullmatch(tensor.name)
        if match is None:
            around[tensor.name] = tensor
        elif int(match[1]) < fields.layers:
            blocks.setdefault(int(match[1]), []).append((match[2], tensor))
        else:
            fields.problem("block_count", f"{tensor.name} is beyond the {fields.layers} layers")
    table = around.get("token_embd.weight")
    if table is None or len(table.shape) != 2 or set(blocks) != set(range(fields.layers)):
        return None
    groups = gguf_layers.groups(blocks, fields)
    weights = [gguf_weights.weight(key, tensor, fields.sizes(fields.layers)) for key, tensor in around.items()]
    return _assembled(name, groups, weights, table, header, fields)


def _assembled(
    name: str, groups: tuple[LayerGroup, ...], weights: list[Weight], table: Tensor, header: Header, fields: GgufFields
) -> Model:
    main, later = _parted(groups, fields.layers - fields.count("nextn_predict_layers", 0))
    head = next((weight for weight in weights if weight.name == "output" and weight.role == "head"), None)
    tables = tuple(sorted((item for item in weights if item.role in ("embedding", "position")), key=_table_order))
    file_type = header.metadata.get("general.file_type")
    scheme = FILE_TYPES.get(file_type) if isinstance(file_type, int) else None
    return Model(
        name=name,
        hidden=fields.hidden,
        vocabulary=table.shape[1],
        groups=main,
        embedding=tables,
        head=head,
        norms=tuple(item for item in weights if item not in tables and item is not head),
        prediction_layers=later,
        dtype=fields.dtype,
        quantization=scheme,
        nominal=scheme or _most(header.tensors),
        max_context=fields.count("context_length", 0) or None,
        family=fields.architecture,
    )


def _table_order(weight: Weight) -> tuple[bool, str]:
    return weight.name != "token_embd", weight.name


def _parted(groups: tuple[LayerGroup, ...], last: int) -> tuple[tuple[LayerGroup, ...], tuple[LayerGroup, ...]]:
    """(the stack, the prediction layers): layers from `last` on predict further tokens."""
    parted: tuple[list[LayerGroup], list[LayerGroup]] = ([], [])
    for group in groups:
        for index in (0, 1):
            layers = tuple(layer for layer in group.layers if (layer >= last) == bool(index))
            if layers:
                parted[index].append(LayerGroup(layers, group.mixers, group.feed_forwards, group.norms))
    return tuple(parted[0]), tuple(parted[1])


def _most(tensors: Iterable[Tensor]) -> str:
    """The format that most bytes are in."""
    stored: dict[str, int] = {}
    for tensor in tensors:
        stored[tensor.format] = stored.get(tensor.format, 0) + tensor.stored_bytes
    return max(stored, key=lambda name: (stored[name], name)) if stored else "fp16"


def _warnings(header: Header, fields: GgufFields) -> list[Finding]:
    if not header.missing_bytes:
        return []
    message = f"the file ends {header.missing_bytes} bytes before its last tensor; figures are those of its header"
    return [
        Finding(
            "model-gguf-truncated",
            Severity.WARNING,
            message,
            "Download the file again.",
            values={"missing_bytes": header.missing_bytes},
        )
    ]
