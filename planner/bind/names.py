"""Names and files that a document refers to: whether each is there. Asked where the document is invalid already.

Binding finds the same and more, but only of a valid document; this way every error of a file comes in one run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner import catalogue, source
from planner.bind.accelerator import unknown_accelerator
from planner.bind.context import Binding
from planner.bind.model import unknown_model
from planner.findings import Finding
from planner.source.document import Document, NodePath


def unresolved(document: Document, folders: Sequence[Path] = ()) -> tuple[Finding, ...]:
    """Findings of names that are in no catalogue and of files that are not in the project."""
    binding = Binding(document, tuple(folders))
    for path, name in _accelerators(document.data.get("hardware")):
        if catalogue.find("accelerators", name, binding.folders) is None:
            unknown_accelerator(name, path, binding)
    for path, section in _models(document.data):
        ref = section.get("ref")
        if isinstance(ref, str) and catalogue.find("models", ref, binding.folders) is None:
            unknown_model(ref, (*path, "ref"), binding)
        for key in ("config", "gguf"):
            reference = section.get(key)
            if isinstance(reference, str):
                found = source.resolve(
                    reference, document.location((*path, key)), document, path=document.pointer((*path, key))
                )
                binding.findings += [found] if isinstance(found, Finding) else []
    return tuple(binding.findings)


def _accelerators(hardware: Any) -> Iterator[tuple[NodePath, str]]:
    declared = hardware.get("accelerator") if isinstance(hardware, Mapping) else None
    items = enumerate(declared) if isinstance(declared, list) else ((None, declared),)
    for index, item in items:
        path: NodePath = ("hardware", "accelerator") if index is None else ("hardware", "accelerator", index)
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, Mapping) and isinstance(item.get("ref"), str):
            yield (*path, "ref"), item["ref"]


def _models(data: Mapping[str, Any]) -> Iterator[tuple[NodePath, Mapping[str, Any]]]:
    model = data.get("model")
    if isinstance(model, Mapping):
        yield ("model",), model
    levers = data.get("levers")
    for index, item in enumerate(levers if isinstance(levers, list) else ()):
        for key in ("draft", "checkpoint"):
            reference = item.get(key) if isinstance(item, Mapping) else None
            if isinstance(reference, Mapping):
                yield ("levers", index, key), reference
