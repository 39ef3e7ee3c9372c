"""Quantities as people write them ("80 GiB", "500 ms") to SI floats. The only module that imports pint.

A quantity is one number, at most one blank, and one unit that the field takes (blanks around `/` do not matter):
`80 GB`, `80GB`, `4 request/s`, `8 % / month`. Units are defined in `units.txt`. The factors of the spellings that the
language has are kept in `unit_factors.py`, which `python -m planner.units` writes, so that a check of a right spec
need not import pint at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from planner import unit_messages
from planner.dimensions import DIMENSIONS, NUMBER, Dimension, pattern, spellings
from planner.unit_factors import FACTORS
from planner.unit_messages import UnitError

__all__ = ["SPELLINGS", "UnitError", "cost", "factor", "pattern", "problem", "si"]

SPELLINGS: Mapping[str, tuple[str, ...]] = {name: spellings(name) for name in (*DIMENSIONS, "cost")}
"""Dimension -> every unit that may be written, the usual one first."""

_QUANTITY = re.compile(rf"({NUMBER}) ?([A-Za-zµ%](?:[A-Za-zµ%/ ]*[A-Za-zµ%])?|/ ?[A-Za-z]+)")
_SLASH = re.compile(r" ?/ ?")
_SMALLEST = 1e-15
_LONGEST = unit_messages.LONGEST

CostKind = Literal["rate", "total"]


def si(value: object, dimension: str) -> float:
    """The SI value of a quantity.

    dimension: `memory` (bytes), `bandwidth` and `link` (byte/s), `arithmetic` (FLOP/s), `time` (s), `money` (USD),
    `price` and `cost-rate` (USD an hour), `cost` (either), `request-rate` (request/s), `arrival-rate` (request or
    session per s), `token-rate` (token/s), `growth` (share a month), `power` (W),
    `energy` (J), `energy-price` (USD/J), `share` (1), `count` (1).
    The value is the nearest float to the exact product, so equal amounts are equal whatever their units.
    Errors: UnitError, whose message and hint are for the author of the spec. KeyError for an unknown dimension.
    """
    return cost(value)[0] if dimension == "cost" else _si(value, dimension)


def cost(value: object) -> tuple[float, CostKind]:
    """(USD an hour, "rate") of `45000 USD/month`, (USD, "total") of `400 USD`. Errors: UnitError."""
    quantity = _QUANTITY.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    if quantity and _SLASH.sub("/", quantity[2]) in SPELLINGS["money"]:
        return _si(value, "money"), "total"
    return _si(value, "cost-rate"), "rate"


def problem(value: object, dimension: str) -> tuple[str, str] | None:
    """(message, hint) where `value` is not a quantity of `dimension`, else None."""
    try:
        si(value, dimension)
    except UnitError as error:
        return error.message, error.hint
    return None


def _si(value: object, dimension: str) -> float:
    if isinstance(value, str):
        return _of_text(value, dimension)
    wanted = DIMENSIONS[dimension]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise unit_messages.not_a_quantity(value, wanted)
    if not wanted.bare:
        raise unit_messages.no_unit(value, wanted)
    if dimension == "count" and value % 1 != 0 and abs(value) <= wanted.maximum:
        raise unit_messages.not_whole(value, wanted)
    return _within(value, float(min(max(value, -1e300), 1e300)), wanted)


@lru_cache(maxsize=4096)
def _of_text(text: str, dimension: str) -> float:
    wanted = DIMENSIONS[dimension]
    quantity = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if quantity is None or not wanted.numerators:
        raise unit_messages.not_in_form(text, wanted)
    number, unit = quantity[1], _SLASH.sub("/", quantity[2])
    if unit not in SPELLINGS[dimension]:
        raise unit_messages.wrong_unit(text, number, unit, wanted, _meaning(unit))
    numerator, denominator = factor(unit)
    return _within(text, float(Decimal(number) * numerator / denominator), wanted)


def _within(written: object, value: float, wanted: Dimension) -> float:
    """`value` if it lies in the range of its dimension. Beyond it only mistakes are found."""
    if not value >= 0.0 or (value == 0.0 and not wanted.zero) or value > wanted.maximum:
        raise unit_messages.out_of_range(written, value, wanted)
    if 0.0 < value < _SMALLEST:
        raise unit_messages.out_of_range(written, value, wanted)
    return value + 0.0  # -0.0 becomes 0.0


def factor(unit: str) -> tuple[int, int]:
    """(numerator, denominator) of the factor from `unit` to the SI unit of its dimension: `1/730` for USD/month."""
    known = FACTORS.get(unit)
    return known if known is not None else _factor_by_pint(unit)


def _factor_by_pint(unit: str) -> tuple[int, int]:
    target = next(found.target for found in DIMENSIONS.values() if unit in found.spellings)
    noun = unit.split("/")[0]
    if noun.startswith("session"):
        target = "session/s"
    elif not noun:
        unit, target = f"1{unit}", "1/s"
    registry = _registry()
    exact = registry.Quantity(1, registry.parse_units(unit)).to(target).magnitude
    numerator, denominator = exact.as_integer_ratio()
    return numerator, denominator


def _meaning(unit: str) -> str:
    """What a unit that the field does not take measures: "a bandwidth", or "" where that cannot be said."""
    for found in DIMENSIONS.values():
        if unit in found.spellings:
            return found.wants
    try:
        dimensionality = _dimensionality(unit)
        alike = (found for found in DIMENSIONS.values() if found.target)
        return next((found.wants for found in alike if dimensionality == _dimensionality(found.target)), "")
    except Exception:  # pint raises whatever its parser meets; an unknown unit has no meaning
        return ""


def _dimensionality(unit: str) -> Any:
    return _registry().parse_units(unit).dimensionality


@cache
def _registry() -> Any:
    from fractions import Fraction

    import pint

    return pint.UnitRegistry(str(Path(__file__).with_name("units.txt")), non_int_type=Fraction)


def table() -> str:
    """The text of `unit_factors.py`, computed by pint."""
    units = dict.fromkeys(unit for found in DIMENSIONS.values() for unit in found.spellings)
    lines = [f'    "{unit}": {_factor_by_pint(unit)},' for unit in units]
    return "\n".join((_HEAD, *lines, "}", ""))


_HEAD = '''"""Factor of each unit spelling to SI, as (numerator, denominator). Written by `python -m planner.units`."""

from __future__ import annotations

FACTORS: dict[str, tuple[int, int]] = {'''

if __name__ == "__main__":
    Path(__file__).with_name("unit_factors.py").write_text(table(), encoding="utf-8")
