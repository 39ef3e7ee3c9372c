"""The `hardware.power` section, and `api_price`, to SI units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner import units
from planner.domain.accelerator import PowerSupply
from planner.domain.pricing import ApiPrice


def power_supply(section: Mapping[str, Any]) -> PowerSupply:
    """Limits, hosts, cooling and the price of electricity."""
    rack: Mapping[str, Any] = section.get("rack") or {}
    return PowerSupply(
        limit_w=_si(section, "limit", "power"),
        host_w=_si(section, "host", "power"),
        pue=float(section.get("pue", 1.0)),
        electricity_usd_per_j=_si(section, "electricity_price", "energy-price"),
        budget_w=_si(section, "budget", "power"),
        rack_accelerators=int(rack["accelerators"]) if rack else None,
        rack_budget_w=_si(rack, "budget", "power"),
    )


def api_price(section: Mapping[str, Any] | None) -> ApiPrice | None:
    """None where the spec compares with no service."""
    if not section:
        return None
    cached = _si(section, "cached", "money")
    prices = units.si(section["input"], "money"), units.si(section["output"], "money")
    return ApiPrice(*prices, cached, str(section.get("name", "")), str(section.get("date", "")))


def _si(section: Mapping[str, Any], key: str, dimension: str) -> float | None:
    return units.si(section[key], dimension) if key in section else None
