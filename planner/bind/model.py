"""The `model` section to a Model: from the catalogue, a config.json, a GGUF header, or figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner import catalogue
from planner.bind.context import Binding
from planner.domain.model import Model
from planner.findings import Finding, Severity
from planner.quoting import quoted
from planner.source.document import NodePath


def model(section: Mapping[str, Any], path: NodePath, binding: Binding) -> Model | None:
    """The model as its authors publish it (`weights` is a lever). None after findings."""
    if "ref" in section:
        return _from_catalogue(str(section["ref"]), (*path, "ref"), binding)
    if "architecture" in section:
        from planner.architectures.figures import read_figures

        found, findings = read_figures(section["architecture"], name=str(section.get("name", "declared")))
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
        unknown_model(name, path, binding)
        return None
    found, findings, digest = _catalogue_model(entry)
    binding.adopt(findings, path)
    binding.catalogue[entry.stem.replace("--", "/")] = digest
    return found


def unknown_model(name: str, path: NodePath, binding: Binding) -> None:
    """The finding of a name that no catalogue has."""
    nearest = catalogue.suggest("models", name, binding.folders)
    binding.fault(
        "unknown-model",
        path,
        f"{quoted(name)} is not in the catalogue",
        (f"Nearest: {', '.join(nearest)}. " if nearest else "")
        + "Import it with `planner import model`, or give the model's config.json as `config: ./config.json`.",
    )


@lru_cache(maxsize=256)
def _catalogue_model(entry: Path) -> tuple[Model | None, tuple[Finding, ...], str]:
    from planner.architectures.document import read_document

    document = catalogue.read(entry)
    found, findings = read_document(document)
    return found, tuple(findings), catalogue.digest_of(document)


def _from_file(reference: str, path: NodePath, binding: Binding) -> Model | None:
    file = binding.file(reference, path)
    if file is None:
        return None
    name = Path(reference).stem if Path(reference).stem != "config" else file.parent.name
    found, findings = _read_file(file, file.stat().st_mtime_ns, name)
    binding.adopt(findings, path)
    return found


@lru_cache(maxsize=256)
def _read_file(file: Path, _changed: int, name: str) -> tuple[Model | None, tuple[Finding, ...]]:
    """A config.json, with the quantisation file beside it, or a GGUF file, told apart by its first bytes."""
    try:
        with file.open("rb") as stream:
            start = stream.read(4)
        if start == b"GGUF":
            from planner.architectures.gguf import read_gguf

            header, said = read_gguf(file)
            return header, tuple(said)
        from planner.bind.config_file import read_config_file

        return read_config_file(file, name=name)
    except OSError as error:
        problem = Finding("model-config-unreadable", Severity.ERROR, f"the file cannot be read: {error.strerror}")
        return None, (problem,)
