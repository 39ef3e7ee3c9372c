"""The `model` section to a Model: from the catalogue, a config.json, a GGUF header, or figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner import architectures, catalogue
from planner.bind.context import Binding
from planner.domain.model import Model
from planner.findings import Finding
from planner.source.document import NodePath
from planner.quoting import quoted

LARGEST_CONFIG_BYTES = 16 * 2**20


def model(section: Mapping[str, Any], path: NodePath, binding: Binding) -> Model | None:
    """The model as its authors publish it (`weights` is a lever). None after findings."""
    if "ref" in section:
        return _from_catalogue(str(section["ref"]), (*path, "ref"), binding)
    if "architecture" in section:
        found, findings = architectures.read_figures(section["architecture"], name=str(section.get("name", "declared")))
        binding.adopt(findings, (*path, "architecture"))
        return found
    for key in ("config", "gguf"):
        if key in section:
            return _from_file(str(section[key]), (*path, key), binding)
    binding.fault("missing-key", path, "the model names no source", "Give one of ref, config, gguf or architecture.")
    return None


def _from_catalogue(name: str, path: NodePath, binding: Binding) -> Model | None:
    entry = catalogue.find("models", name, binding.folders)
    if entry is None:
        nearest = catalogue.suggest("models", name, binding.folders)
        binding.fault(
            "unknown-model",
            path,
            f"{quoted(name)} is not in the catalogue",
            (f"Nearest: {', '.join(nearest)}. " if nearest else "")
            + "Import it with `planner import model`, or give the model's config.json as `config: ./config.json`.",
        )
        return None
    found, findings, digest = _catalogue_model(entry)
    binding.adopt(findings, path)
    binding.catalogue[entry.stem.replace("--", "/")] = digest
    return found


@lru_cache(maxsize=256)
def _catalogue_model(entry: Path) -> tuple[Model | None, tuple[Finding, ...], str]:
    document = catalogue.read(entry)
    found, findings = architectures.read_document(document)
    return found, tuple(findings), catalogue.digest_of(document)


def _from_file(reference: str, path: NodePath, binding: Binding) -> Model | None:
    file = binding.file(reference, path)
    if file is None:
        return None
    found, findings = _read_file(file, file.stat().st_mtime_ns if file.exists() else 0, Path(reference).stem)
    binding.adopt(findings, path)
    return found


@lru_cache(maxsize=256)
def _read_file(file: Path, _changed: int, name: str) -> tuple[Model | None, tuple[Finding, ...]]:
    """A config.json (with hf_quant_config.json beside it) or a GGUF file."""
    with file.open("rb") as stream:
        if stream.read(4) == b"GGUF":
            found, findings = architectures.read_gguf(file)
            return found, tuple(findings)
    found, findings = architectures.read_config_file(file, name=name)
    return found, tuple(findings)


def loads(text: str) -> Any:
    """JSON as published: Infinity is accepted."""
    return json.loads(text)
