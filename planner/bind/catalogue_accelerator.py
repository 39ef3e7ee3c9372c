"""A catalogue file of an accelerator to the Accelerator that a plan uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner import catalogue, units
from planner.domain.accelerator import Accelerator, Derate, Interconnect, Price

Entry = Mapping[str, Any]
FALLBACK = Derate(bandwidth=0.8, compute=0.6)
"""Where neither the accelerator nor its generation has a measured share: the dataclass's own default."""

_GIB_PER_GB = 2.0**30 / 1e9


def from_entry(name: str, document: Entry) -> Accelerator:
    """The accelerator that `document` describes; of a board of several devices, one of them.

    Generations and all-reduce tables are the packaged ones; an unknown generation has the `FALLBACK` shares.
    """
    figures: Entry = document["accelerator"]
    metadata: Entry = document.get("metadata") or {}
    devices = int(figures.get("devices", 1))
    capacities = _capacities(figures.get("memory"))
    generation = _text(figures, "generation")
    shares = catalogue.entry("generations", generation) or {} if generation else {}
    power = figures.get("power")
    return Accelerator(
        id=name,
        name=str(figures.get("name", name)),
        vendor=_text(figures, "vendor"),
        kind=str(figures.get("kind", "gpu")),
        generation=generation,
        marketed_bytes=_part(marketed_bytes(capacities), devices),
        marketed_text=str(capacities.get("marketed", "")),
        capacity_bytes=total_bytes(capacities) / devices,
        driver_bytes=_part(_memory(capacities, "driver"), devices),
        bandwidth_bytes_per_s=units.si(figures["bandwidth"], "bandwidth") / devices,
        arithmetic_flop_per_s=_arithmetic(figures, devices),
        storage_formats=tuple(figures.get("storage_formats", ())),
        compute_capability=figures.get("compute_capability"),
        interconnect=_interconnect(figures.get("interconnect") or {}),
        derate=_derate(figures, shares),
        unified=bool(figures.get("unified", False)),
        memory_type=_text(figures, "memory_type"),
        power_w=units.si(power, "power") / devices if power else None,
        prices=_prices(document, devices),
        efficiencies=_efficiencies(shares) | _efficiencies(figures),
        confidence=str(metadata.get("confidence", "declared")),
        sources=tuple(document.get("sources", ())),
        disagreements=_text(document, "disagreements"),
        catalogue_id=name,
        partition_of=_text(figures.get("partition") or {}, "parent"),
    )


def _text(mapping: Entry, key: str) -> str:
    return str(mapping.get(key, ""))


def _part(value: float | None, devices: int) -> float | None:
    return None if value is None else value / devices


def _capacities(memory: Any) -> Entry:
    """A bare figure is taken at its word."""
    return memory if isinstance(memory, Mapping) else {"total": memory} if memory else {}


def _memory(capacities: Entry, key: str) -> float | None:
    return units.si(capacities[key], "memory") if key in capacities else None


def marketed_bytes(capacities: Entry) -> float | None:
    """The printed capacity in bytes, by what the vendor's unit means: an H100's 80 GB are 80 GiB."""
    printed = _memory(capacities, "marketed")
    if printed is None:
        return None
    binary = str(capacities["marketed"]).endswith(" GB") and _text(capacities, "marketed_unit_means").startswith("GiB")
    return printed * _GIB_PER_GB if binary else printed


def total_bytes(capacities: Entry) -> float:
    """What plans use: the entry's own total, else the framework's, the driver's, the printed one; 0 for none."""
    for key in ("total", "framework", "driver"):
        found = _memory(capacities, key)
        if found is not None:
            return found
    return marketed_bytes(capacities) or 0.0


def _arithmetic(figures: Entry, devices: int) -> dict[str, float]:
    return {key: units.si(text, "arithmetic") / devices for key, text in (figures.get("compute") or {}).items()}


def _interconnect(links: Entry) -> Interconnect:
    table = links.get("collectives")
    return Interconnect(
        domain=int(links.get("domain", 1)),
        scale_up_bytes_per_s=units.si(links["scale_up"], "link") if "scale_up" in links else None,
        scale_out_bytes_per_s=units.si(links["scale_out"], "link") if "scale_out" in links else None,
        topology=_text(links, "topology"),
        all_reduce=all_reduce(catalogue.entry("collectives", table) or {}) if table else {},
    )


def all_reduce(table: Entry) -> dict[tuple[int, bool], tuple[tuple[float, float], ...]]:
    """{(ranks, captured in a graph): ((bytes, seconds), ...)}; rows marked suspect are left out.

    Outside a graph the host's launch is a floor. A library measured without graphs stands for both.
    """
    sizes = [units.si(text, "memory") for text in table.get("sizes", ())]
    floor = units.si(table["launch_floor"], "time") if "launch_floor" in table else 0.0
    rows: dict[tuple[int, bool], tuple[tuple[float, float], ...]] = {}
    for row in table.get("all_reduce", ()):
        if "suspect" in row:
            continue
        captured = bool(row["captured"])
        seconds = [units.si(text, "time") for text in row["times"]]
        rows[int(row["ranks"]), captured] = tuple(
            (size, time if captured else max(time, floor)) for size, time in zip(sizes, seconds, strict=True)
        )
    for (ranks, captured), curve in tuple(rows.items()):
        if not captured:
            rows.setdefault((ranks, True), curve)
        elif floor:
            rows.setdefault((ranks, False), tuple((size, max(time, floor)) for size, time in curve))
    return rows


def _derate(figures: Entry, shares: Entry) -> Derate:
    """The accelerator's own measured shares, else its generation's (bandwidth by memory type), else `FALLBACK`."""
    own: Entry = figures.get("derate") or {}
    general: Entry = shares.get("derate") or {}
    kind = _text(figures, "memory_type")
    by_type: Entry = general.get("bandwidth") or {}
    bandwidth = next((share for family, share in by_type.items() if kind.startswith(family)), FALLBACK.bandwidth)
    return Derate(
        bandwidth=units.si(own.get("bandwidth", bandwidth), "positive-share"),
        compute=units.si(own.get("compute", general.get("compute", FALLBACK.compute)), "positive-share"),
    )


def _efficiencies(mapping: Entry) -> dict[str, float]:
    return {key: units.si(item["value"], "positive-share") for key, item in (mapping.get("efficiencies") or {}).items()}


def _prices(document: Entry, devices: int) -> tuple[Price, ...]:
    """List prices in the file's order: the first is the default."""
    tables: Entry = document.get("price_tables") or {}
    single = document["accelerator"].get("price")
    found = [Price(units.si(single, "price"))] if single else []
    for row in document.get("prices", ()):
        provider = _text(row, "provider")
        found.append(
            Price(
                usd_per_hour=units.si(row["price"], "price") / devices,
                provider=provider,
                region=_text(row, "region"),
                kind=_text(row, "class"),
                as_of=_text(row, "date"),
                source=str(row.get("source", tables.get(provider, ""))),
            )
        )
    return tuple(found)
