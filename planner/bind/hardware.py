"""The `hardware` section to cards, links, host and price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner import units
from planner.bind import ecc
from planner.bind.accelerator import accelerator, doubt_memory
from planner.bind.context import Binding
from planner.bind.power import power_supply
from planner.domain.accelerator import Accelerator, Derate, Hardware, HostMemory, Interconnect, Kubernetes, Replicas
from planner.domain.plan import Origin
from planner.format import memory
from planner.source.document import NodePath

PATH: NodePath = ("hardware",)
ROUNDING = 0.02
"""By so much printed and reported capacities differ beside their units."""


def hardware(section: Mapping[str, Any], binding: Binding) -> Hardware | None:
    """None after findings."""
    cards = _cards(section, binding)
    if not cards:
        return None
    cards = tuple(ecc.corrected(item, section.get("ecc")) for item in cards)
    card = min(cards, key=lambda item: item.capacity_bytes)
    usable = section.get("usable_memory")
    if usable is not None and card.catalogue_id is not None:
        doubt_memory(usable, card, (*PATH, "usable_memory"), binding)
    _memory_there(section, card, binding)
    binding.origins["memory"] = _memory_origin(section, card)
    price, price_date = _price(section, card, binding)
    return Hardware(
        cards=cards,
        replicas=_replicas(section.get("replicas", 1)),
        usable_bytes=units.si(usable, "memory") if usable is not None else None,
        reserved_bytes=units.si(section["reserved"], "memory-or-none") if "reserved" in section else 0.0,
        derate=_derate(section.get("derate"), card, binding),
        interconnect=_interconnect(section.get("interconnect"), card),
        host=_host(section.get("host") or {}),
        price_usd_per_hour=price,
        placement=section.get("placement"),
        ecc=section.get("ecc"),
        kubernetes=_kubernetes(section.get("kubernetes")),
        price_date=price_date,
        spares=int(section.get("spares", 0)),
        power=power_supply(section.get("power") or {}),
    )


def _cards(section: Mapping[str, Any], binding: Binding) -> tuple[Accelerator, ...]:
    declared = section.get("accelerator")
    count = int(section.get("count", 1))
    if isinstance(declared, Sequence) and not isinstance(declared, str):
        return _unlike(declared, binding)
    card = accelerator(declared, (*PATH, "accelerator"), binding)
    return (card,) * count if card else ()


def _unlike(declared: Sequence[Any], binding: Binding) -> tuple[Accelerator, ...]:
    """A list of cards; an item may carry its own `count`."""
    cards: list[Accelerator] = []
    whole = True
    for index, item in enumerate(declared):
        copies = int(item.get("count", 1)) if isinstance(item, Mapping) else 1
        value = {key: part for key, part in item.items() if key != "count"} if isinstance(item, Mapping) else item
        card = accelerator(value, (*PATH, "accelerator", index), binding)
        whole = whole and card is not None
        cards += [card] * copies if card else []
    return tuple(cards) if whole else ()


def _memory_there(section: Mapping[str, Any], card: Accelerator, binding: Binding) -> None:
    """No accelerator has more usable memory than memory, nor less than is in use before the engine starts."""
    total = max(card.capacity_bytes, card.driver_bytes or 0.0, card.marketed_bytes or 0.0)
    usable = units.si(section["usable_memory"], "memory") if "usable_memory" in section else card.capacity_bytes
    reserved = units.si(section["reserved"], "memory-or-none") if "reserved" in section else 0.0
    if usable > total * (1.0 + ROUNDING):
        message = f"usable_memory is {memory(usable)}, and {card.id} has {memory(total)}"
        hint = "Leave it out, or correct the accelerator itself: {ref: …, memory: …}."
        values = {"declared_bytes": usable, "total_bytes": total}
        binding.fault("figures-disagree", (*PATH, "usable_memory"), message, hint, values=values)
    elif reserved >= usable:
        message = f"{memory(reserved)} in use before the engine starts leave nothing of {memory(usable)}"
        hint = f"reserved is per accelerator, and less than {memory(usable)}."
        values = {"reserved_bytes": reserved, "usable_bytes": usable}
        binding.fault("figures-disagree", (*PATH, "reserved"), message, hint, values=values)


def _memory_origin(section: Mapping[str, Any], card: Accelerator) -> Origin:
    if "usable_memory" in section or card.catalogue_id is None:
        return Origin("declared", "usable_memory" if "usable_memory" in section else "hardware.accelerator.memory")
    return Origin("catalogue", card.catalogue_id)


def _replicas(value: Any) -> Replicas:
    if isinstance(value, Mapping):
        start = units.si(value["start_time"], "time") if "start_time" in value else None
        target = float(value["target_requests"]) if "target_requests" in value else None
        return Replicas(int(value.get("min", 1)), int(value.get("max", value.get("min", 1))), start, target)
    return Replicas(int(value), int(value))


def _kubernetes(section: Mapping[str, Any] | None) -> Kubernetes | None:
    if section is None:
        return None
    shared = section.get("shared_memory")
    counts = {key: section.get(key) for key in ("max_surge", "max_unavailable", "accelerators")}
    return Kubernetes(
        shared_memory_bytes=units.si(shared, "memory") if shared is not None else None,
        strategy=section.get("strategy", "RollingUpdate"),
        **{key: None if value is None else int(value) for key, value in counts.items()},
    )


def _derate(section: Mapping[str, Any] | None, card: Accelerator, binding: Binding) -> Derate | None:
    binding.origins["derate"] = (
        Origin("declared", "hardware.derate") if section else Origin("catalogue", card.generation)
    )
    if not section:
        return None
    bandwidth = units.si(section["bandwidth"], "share") if "bandwidth" in section else card.derate.bandwidth
    compute = units.si(section["compute"], "share") if "compute" in section else card.derate.compute
    return Derate(bandwidth, compute)


def _interconnect(section: Mapping[str, Any] | None, card: Accelerator) -> Interconnect | None:
    """Declared figures over the catalogue's. A declared speed drops tables measured on another fabric."""
    if not section:
        return None
    own = card.interconnect
    up = units.si(section["scale_up"], "link") if "scale_up" in section else own.scale_up_bytes_per_s
    out = units.si(section["scale_out"], "link") if "scale_out" in section else own.scale_out_bytes_per_s
    same = up == own.scale_up_bytes_per_s
    return replace(
        own,
        domain=int(section.get("domain", own.domain)),
        scale_up_bytes_per_s=up,
        scale_out_bytes_per_s=out,
        topology=str(section.get("topology", own.topology if same else "")),
        all_reduce=own.all_reduce if same else {},
    )


def _host(section: Mapping[str, Any]) -> HostMemory:
    return HostMemory(
        units.si(section["memory"], "memory") if "memory" in section else None,
        units.si(section["bandwidth"], "bandwidth") if "bandwidth" in section else None,
        units.si(section["link"], "link") if "link" in section else None,
    )


def _price(section: Mapping[str, Any], card: Accelerator, binding: Binding) -> tuple[float | None, str]:
    """(USD an hour, date): declared, else the catalogue's first (its default) price, in the assumptions too."""
    if section.get("price") is not None:
        declared = str(section.get("price_date", ""))
        binding.origins["price"] = Origin("declared", f"hardware.price {declared}".strip())
        return units.si(section["price"], "price"), declared
    if not card.prices:
        return None, ""
    price = card.prices[0]
    binding.origins["price"] = Origin("catalogue", f"{price.provider} {price.region} {price.as_of}".strip())
    binding.assumptions.append(
        f"Price {price.usd_per_hour:g} USD/hour an accelerator: {price.provider} {price.kind.replace('_', ' ')}, "
        f"{price.region}, as of {price.as_of} ({price.source})."
    )
    return price.usd_per_hour, price.as_of
