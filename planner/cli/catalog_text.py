"""Catalogue entries as text for a terminal. What files say is printed without control characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner import units
from planner.format import arithmetic, bandwidth, dollars, memory

MEMORY_KEYS = ("marketed", "driver", "framework", "total")
WIDTH = 22


def listing(sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """One table a section."""
    parts = []
    for section, rows in sections.items():
        table = _accelerators(rows) if section == "accelerators" else _plain(rows)
        parts.append("\n".join((f"{section} ({len(rows)})", *_columns(table))))
    return "\n\n".join(parts) + "\n"


def entry(section: str, data: Mapping[str, Any]) -> str:
    """Every value of one entry, indented as the file nests; memory in GiB and GB, prices one a line.

    Of models: what their weights, caches and states add up to.
    """
    if section == "models":
        from planner.cli import catalog_model

        return "".join(f"{safe(line)}\n" for line in catalog_model.lines(data))
    lines = list(_lines(data)) if section != "accelerators" else list(_accelerator(data))
    return "\n".join(lines) + "\n"


def safe(value: Any) -> str:
    """`value` on one line, unprintable characters spelled out."""
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _accelerators(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    table: list[tuple[str, ...]] = [("name", "memory", "bandwidth", "16-bit", "price", "as of", "confidence")]
    for row in rows:
        price = row.get("usd_per_hour")
        table.append(
            (
                safe(row["name"]),
                memory(row.get("memory_bytes")),
                bandwidth(row.get("bandwidth_bytes_per_s")),
                arithmetic(row.get("bf16_or_fp16_flop_per_s")),
                dollars(price, "USD/hour") if price is not None else "-",
                safe(row.get("price_date") or "-"),
                safe(row.get("confidence") or row.get("error") or "-"),
            )
        )
    return table


def _plain(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return [tuple(keys), *(tuple(_cell(row.get(key, "")) for key in keys) for row in rows)]


def _cell(value: Any) -> str:
    """A value of a table; large whole numbers in groups of three digits."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else safe(value)


def _accelerator(data: Mapping[str, Any]) -> Iterator[str]:
    figures: Mapping[str, Any] = data["accelerator"]
    metadata: Mapping[str, Any] = data.get("metadata") or {}
    yield f"{safe(metadata.get('name', ''))}: {safe(figures.get('name', ''))}"
    yield f"  {'confidence':<{WIDTH}} {safe(metadata.get('confidence', 'declared'))}"
    for key, value in figures.items():
        if key == "memory":
            yield from _memory(value)
        elif key != "name":
            yield from _lines({key: value}, 1)
    yield from _shares(data.get("generation"))
    yield from _prices(data)
    yield "  sources"
    yield from (f"    {safe(item)}" for item in data.get("sources") or ("none given",))
    if data.get("disagreements"):
        yield from ("  disagreements", f"    {safe(data['disagreements'])}")
    yield f"  {'digest':<{WIDTH}} {safe(data['digest'])}"


def _memory(value: Any) -> Iterator[str]:
    capacities = value if isinstance(value, Mapping) else {"total": value}
    yield "  memory"
    for key, item in capacities.items():
        sizes = f" = {_both(item, capacities)}" if key in MEMORY_KEYS else ""
        yield f"    {safe(key):<{WIDTH - 2}} {safe(item)}{sizes}"


def _both(text: Any, capacities: Mapping[str, Any]) -> str:
    """GiB and GB of a capacity; a printed GB that means GiB is read so."""
    value = units.si(text, "memory")
    if text == capacities.get("marketed") and str(capacities.get("marketed_unit_means", "")).startswith("GiB"):
        value *= 2**30 / 1e9 if str(text).endswith(" GB") else 1.0
    return f"{value / 2**30:,.2f} GiB ({value / 1e9:,.2f} GB)"


def _shares(generation: Any) -> Iterator[str]:
    if isinstance(generation, Mapping):
        yield f"  achieved shares of peak, generation {safe(generation['metadata']['name'])}"
        yield from _lines(generation.get("derate") or {}, 2)
        yield from _lines(generation.get("efficiencies") or {}, 2)


def _prices(data: Mapping[str, Any]) -> Iterator[str]:
    """The first is what plans use where a spec declares none."""
    tables: Mapping[str, Any] = data.get("price_tables") or {}
    if not data.get("prices"):
        return
    yield "  prices of one accelerator, host included (the first is the default)"
    keys = ("price", "spot", "provider", "instance", "accelerators", "region", "date", "class", "note")
    rows = [tuple(safe(row.get(key, "")) for key in keys) for row in data["prices"]]
    yield from (f"  {line}" for line in _columns([keys, *rows]))
    for provider, table in tables.items():
        yield f"    {safe(provider)}: {safe(table)}"


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Nested mappings and lists, two blanks a level."""
    indent = "  " * depth
    items = value.items() if isinstance(value, Mapping) else (("-", item) for item in value)
    for key, item in items:
        label = safe(key)
        text = _on_one_line(item)
        if text is not None:
            yield f"{indent}{label:<{WIDTH - len(indent) + 2}} {text}".rstrip()
            continue
        yield f"{indent}{label}"
        if isinstance(item, str):
            yield from (f"{indent}  {safe(line)}".rstrip() for line in item.splitlines())
        else:
            yield from _lines(item, depth + 1)


def _on_one_line(item: Any) -> str | None:
    """A scalar, a list of scalars or a figure with its source; None for what needs lines of its own."""
    if isinstance(item, Mapping):
        return f"{safe(item['value'])}   {safe(item['source'])}" if set(item) == {"value", "source"} else None
    if isinstance(item, list):
        nested = any(isinstance(part, Mapping | list) for part in item)
        return None if nested else ", ".join(map(safe, item))
    return None if isinstance(item, str) and "\n" in item else safe(item)
