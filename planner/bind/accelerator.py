"""A `hardware.accelerator` value to one Accelerator: a catalogue name, a name corrected in place, or figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner import catalogue, contract, source, units
from planner.bind.catalogue_accelerator import from_entry
from planner.bind.context import Binding
from planner.domain.accelerator import Accelerator
from planner.findings import Severity
from planner.quoting import quoted
from planner.source.document import NodePath

GIB = 2.0**30
_GIB_PER_GB = GIB / 1e9
_SAME = 0.004
"""Two figures are the same, or apart by the ratio of GiB to GB, within so much."""
_MERGED = ("compute", "interconnect", "derate")
_NOT_FIGURES = ("ref", "count")


def accelerator(value: Any, path: NodePath, binding: Binding) -> Accelerator | None:
    """The accelerator that `value` at `path` means; None after findings. A list of cards is the caller's."""
    if isinstance(value, str):
        return _named(value, {}, path, binding)
    corrections = {key: part for key, part in value.items() if key not in _NOT_FIGURES}
    if "ref" in value:
        return _named(str(value["ref"]), corrections, path, binding)
    _tables(corrections, path, binding)
    card = from_entry(str(value.get("name", "declared")), {"accelerator": corrections})
    return replace(card, catalogue_id=None)


def memory_doubt(text: str, card: Accelerator) -> str | None:
    """What is odd about a declared memory: that it differs from a known total of `card` by GiB over GB, 1.0737.

    None where it does not, or where it equals another known total.
    """
    declared = units.si(text, "memory")
    known = [total for total in (card.marketed_bytes, card.driver_bytes, card.capacity_bytes) if total]
    if any(abs(declared / total - 1) < _SAME for total in known):
        return None
    for total in known:
        if abs(max(declared, total) / min(declared, total) - _GIB_PER_GB) < _SAME:
            return (
                f"{quoted(text)} is {declared / GIB:.2f} GiB, but {card.id} has {total / GIB:.2f} GiB"
                f" ({total / 1e9:.2f} GB): they differ as GiB and GB do"
            )
    return None


def doubt_memory(text: str, known: Accelerator, path: NodePath, binding: Binding) -> None:
    """A warning where a declared memory differs from the card's as GiB and GB do, with the card's totals."""
    doubt = memory_doubt(text, known)
    if doubt:
        binding.fault(
            "memory-unit-doubt",
            path,
            doubt,
            f"Leave it out to use the catalogue's {known.capacity_bytes / GIB:.2f} GiB, or write the unit meant.",
            severity=Severity.WARNING,
            values={
                "declared_bytes": units.si(text, "memory"),
                "catalogue_bytes": known.capacity_bytes,
                "driver_bytes": known.driver_bytes,
                "printed_bytes": known.marketed_bytes,
            },
        )


def _named(name: str, corrections: Mapping[str, Any], path: NodePath, binding: Binding) -> Accelerator | None:
    where = (*path, "ref") if corrections else path
    file = catalogue.find("accelerators", name, binding.folders)
    if file is None:
        unknown_accelerator(name, where, binding)
        return None
    wrong = _wrong(file, file.stat().st_mtime_ns)
    if wrong:
        hint = "Run `planner check` on that file: it says all that is wrong."
        binding.fault("catalogue-entry", where, f"the file of {quoted(name)} cannot be used: {wrong}", hint)
        return None
    document = catalogue.read(file)
    _tables(corrections, path, binding)
    known = from_entry(file.stem, document)
    card = from_entry(file.stem, _corrected(document, corrections)) if corrections else known
    _note(file, document, known, binding)
    if "memory" in corrections:
        card = _remembered(corrections["memory"], document, known, card, (*path, "memory"), binding)
    return _with_memory(card, where, binding)


@lru_cache(maxsize=256)
def _wrong(file: Path, _changed: int) -> str:
    """The first thing that is wrong with a project's catalogue file, and where; "" for none and for packaged files."""
    if catalogue.PACKAGED in file.parents:
        return ""
    document, findings = source.load(file, display=file.name)
    found = findings if document is None else contract.validate(document)
    return f"{found[0].location}: {found[0].message}" if found else ""


def unknown_accelerator(name: str, path: NodePath, binding: Binding) -> None:
    """The finding of a name that no catalogue has."""
    nearest = catalogue.suggest("accelerators", name, binding.folders)
    binding.fault(
        "unknown-accelerator",
        path,
        f"{quoted(name)} is not in the catalogue",
        (f"Nearest: {', '.join(nearest)}. " if nearest else "")
        + "`planner catalog list accelerators` prints all; or give the figures: "
        "{memory: 80 GiB, bandwidth: 2 TB/s, compute: {bf16: 312 TFLOP/s}}.",
    )


def _tables(figures: Mapping[str, Any], path: NodePath, binding: Binding) -> None:
    """A warning for a table of the catalogue that figures name and that is not there: what is taken in its place."""
    links = figures.get("interconnect") or {}
    named = (
        ("generations", figures.get("generation"), ("generation",), "general shares of the peaks are taken"),
        ("collectives", links.get("collectives"), ("interconnect", "collectives"), "the speed of the links is taken"),
    )
    for kind, name, below, instead in named:
        if name is None or catalogue.find(kind, name) is not None:
            continue
        near = catalogue.suggest(kind, name)
        hint = f"Did you mean {' or '.join(quoted(item) for item in near)}?" if near else "Remove it, or correct it."
        message = f"the catalogue has no {kind} {quoted(name)}: {instead}"
        binding.fault("unknown-table", (*path, *below), message, hint, severity=Severity.WARNING)


def _corrected(document: Mapping[str, Any], corrections: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with what the spec says in place; a corrected speed of links drops what was measured on others."""
    figures = dict(document["accelerator"])
    for key, part in corrections.items():
        figures[key] = {**(figures.get(key) or {}), **part} if key in _MERGED else part
    if {"scale_up", "topology"} & set(corrections.get("interconnect") or {}):
        figures["interconnect"].pop("collectives", None)
    prices = {} if "price" not in corrections else {"prices": ()}
    return {**document, "accelerator": figures, **prices}


def _remembered(
    memory: Any, document: Mapping[str, Any], known: Accelerator, card: Accelerator, path: NodePath, binding: Binding
) -> Accelerator:
    """`card` with the memory that the spec declares: at its word, less what the system keeps of unified memory."""
    if isinstance(memory, Mapping):
        return card
    doubt_memory(memory, known, path, binding)
    capacities = document["accelerator"].get("memory") or {}
    share = units.si(capacities.get("gpu_share", 1.0), "positive-share") if isinstance(capacities, Mapping) else 1.0
    return replace(
        card,
        capacity_bytes=card.capacity_bytes * share,
        marketed_bytes=units.si(memory, "memory"),
        marketed_text=memory,
        driver_bytes=None,
    )


def _with_memory(card: Accelerator, path: NodePath, binding: Binding) -> Accelerator | None:
    if card.capacity_bytes > 0:
        return card
    binding.fault(
        "missing-key",
        path,
        f"the memory of {quoted(card.id)} depends on the machine: the catalogue has none",
        f"Declare it: {{ref: {card.id}, memory: 512 GiB}}.",
    )
    return None


def _note(file: Path, document: Mapping[str, Any], card: Accelerator, binding: Binding) -> None:
    """Digests of what was used, and a word about figures that few sources support."""
    binding.catalogue[file.stem] = catalogue.digest_of(document)
    links = document["accelerator"].get("interconnect") or {}
    for kind, name in (("generations", card.generation), ("collectives", links.get("collectives"))):
        digest = catalogue.digest(kind, name) if name else None
        if digest:
            binding.catalogue[f"{kind}/{name}"] = digest
    if card.confidence == "low":
        word = f"The catalogue's figures of {card.id} have few or no sources (confidence low)."
        if word not in binding.assumptions:
            binding.assumptions.append(word)
