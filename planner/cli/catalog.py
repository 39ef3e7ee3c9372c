"""planner catalog: what the catalogue holds, and where each figure comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from planner import catalogue, engines, levers, source
from planner.cli import catalog_text, options
from planner.cli.groups import Group
from planner.cli.writing import write
from planner.project import project_of
from planner.quoting import quoted

SECTIONS = ("accelerators", "models", "engines", "levers")
FORMAT = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print.",
)


@click.group(cls=Group, epilog="Example: planner catalog show h100-sxm")
def catalog() -> None:
    """List and show accelerators, models, engines and levers.

    A project's own catalogue folders (planner.yaml) are included.
    """


@catalog.command("list", epilog="Example: planner catalog list accelerators --format json")
@click.argument("section", required=False, type=click.Choice(SECTIONS))
@FORMAT
@options.OUTPUT
def list_entries(section: str | None, output_format: str, output: Path | None) -> None:
    """List one section, or all of them."""
    folders = _folders()
    found = {name: _rows(name, folders) for name in ([section] if section else SECTIONS)}
    text = _json(found) if output_format == "json" else catalog_text.listing(found)
    write(text, output)


@catalog.command("show", epilog="Example: planner catalog show l40s --format json")
@click.argument("name")
@FORMAT
@options.OUTPUT
def show(name: str, output_format: str, output: Path | None) -> None:
    """Print every figure of one entry, with its source."""
    folders = _folders()
    section = next((section for section in SECTIONS if _known(section, name, folders)), None)
    if section is None:
        raise click.UsageError(_not_found(name, folders))
    try:
        entry = _entry(section, name, folders)
    except catalogue.UnreadableError as error:
        raise click.UsageError(f"{quoted(name)} cannot be used: {error}") from error
    write(_json(entry) if output_format == "json" else catalog_text.entry(section, entry), output)


def _folders() -> tuple[Path, ...]:
    return project_of(source.root_of(Path.cwd())).catalogue


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, ensure_ascii=True, default=str) + "\n"


def _names(section: str, folders: tuple[Path, ...]) -> tuple[str, ...]:
    if section == "levers":
        return levers.names()
    if section == "engines":
        return engines.names()
    return catalogue.names(section, folders)


def _known(section: str, name: str, folders: tuple[Path, ...]) -> bool:
    return name.lower() in (item.lower() for item in _names(section, folders))


def _not_found(name: str, folders: tuple[Path, ...]) -> str:
    near = [
        *catalogue.suggest("accelerators", name, folders, 2),
        *catalogue.suggest("models", name, folders, 2),
        *catalogue.nearest(name, (*levers.names(), *engines.names()), 2),
    ]
    hint = f" Nearest: {', '.join(near)}." if near else ""
    return f"{quoted(name)} is not in the catalogue.{hint} `planner catalog list` prints all."


def _rows(section: str, folders: tuple[Path, ...]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in _names(section, folders):
        try:
            rows.append(_row(section, name, folders))
        except (catalogue.UnreadableError, LookupError, TypeError, ValueError, AttributeError) as error:
            rows.append({"name": name, "error": str(error) or type(error).__name__})
    return rows


def _row(section: str, name: str, folders: tuple[Path, ...]) -> dict[str, Any]:
    """What a list says of one entry."""
    if section == "levers":
        module = levers.get(name)
        return {"name": name, "class": module.CLASS, "description": _first_line(module)}
    if section == "engines":
        return {"name": name, "description": _first_line(engines.get(name))}
    document = catalogue.entry(section, name, folders) or {}
    if section == "models":
        metadata = document.get("metadata") or {}
        return {"name": name, **{key: metadata[key] for key in ("parameters", "family") if key in metadata}}
    return _accelerator_row(name, document)


def _accelerator_row(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    from planner.bind.catalogue_accelerator import from_entry

    card = from_entry(name, document)
    rates = card.arithmetic_flop_per_s
    price = card.prices[0] if card.prices else None
    return {
        "name": name,
        "vendor": card.vendor,
        "generation": card.generation,
        "memory_bytes": card.capacity_bytes or None,
        "bandwidth_bytes_per_s": card.bandwidth_bytes_per_s,
        "bf16_or_fp16_flop_per_s": rates.get("bf16", rates.get("fp16")),
        "usd_per_hour": price.usd_per_hour if price else None,
        "price_date": price.as_of if price else None,
        "confidence": card.confidence,
    }


def _first_line(module: Any) -> str:
    return (module.__doc__ or "").strip().splitlines()[0]


def _entry(section: str, name: str, folders: tuple[Path, ...]) -> dict[str, Any]:
    """Everything about one entry, as plain data."""
    if section == "levers":
        return _lever(levers.get(name))
    document = catalogue.entry(section, name, folders)
    if document is None:
        return {"name": name, "description": (engines.get(name).__doc__ or "").strip()}
    extra = {}
    if section == "accelerators":
        generation = document["accelerator"].get("generation")
        extra["generation"] = catalogue.entry("generations", str(generation))
    if section == "models":
        from planner.cli import catalog_model

        extra["figures"] = catalog_model.figures(document)
    return {**document, **extra, "digest": catalogue.digest_of(document)}


def _lever(module: Any) -> dict[str, Any]:
    return {
        "name": module.NAME,
        "class": module.CLASS,
        "description": (module.__doc__ or "").strip(),
        "reduces": list(module.REDUCES),
        "evaluate": [text for _, text in module.EVALUATE],
        "parameters": sorted(module.PROPERTIES),
        "required": list(module.REQUIRED),
        "example": module.EXAMPLE,
    }
