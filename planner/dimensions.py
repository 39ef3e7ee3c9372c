"""What each kind of quantity of the spec language looks like: its units as one may write them, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_BYTES = ("GB", "GiB", "MB", "MiB", "TB", "TiB", "kB", "KiB", "PB", "PiB", "B", "byte", "bytes")
_BITS = ("Gbit", "Mbit", "Tbit", "kbit", "bit")
_OPERATIONS = ("TFLOP", "PFLOP", "GFLOP", "MFLOP", "EFLOP", "FLOP", "TOP", "POP", "GOP", "OP")
_TIMES = ("ms", "s", "second", "seconds", "us", "µs", "ns", "minute", "minutes", "min", "hour", "hours", "h")
_SECOND = ("s", "second")
_PER_HOUR = ("hour", "h", "day", "month")
_PER_TIME = (*_SECOND, "minute", "min", "hour", "h", "day")


@dataclass(frozen=True, slots=True)
class Dimension:
    """One kind of quantity.

    wants: what a message calls it. example: a right spelling. numerators, denominators: a unit is one of the
    first, then `/` and one of the second where there are any; "" stands for no noun at all, as in `4 / second`.
    target: the unit of its SI value, as pint spells it. bare: written without a unit. zero: 0 is allowed.
    maximum: the largest SI value. likely: what a number without a unit may have meant.
    """

    wants: str
    example: str
    numerators: tuple[str, ...] = ()
    denominators: tuple[str, ...] = ()
    target: str = ""
    bare: bool = False
    zero: bool = False
    maximum: float = 1e21
    likely: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every unit that may be written, the usual one first."""
        if not self.denominators:
            return self.numerators
        return tuple(f"{above}/{below}" for above in self.numerators for below in self.denominators)


DIMENSIONS: Mapping[str, Dimension] = {
    "memory": Dimension("an amount of memory", "80 GB", _BYTES, target="byte", likely=("GB", "GiB")),
    "memory-or-none": Dimension("an amount of memory", "4 GiB", _BYTES, target="byte", zero=True, likely=("GB", "GiB")),
    "bandwidth": Dimension("a bandwidth", "3.35 TB/s", _BYTES, _SECOND, "byte/s", likely=("GB/s", "TB/s")),
    "link": Dimension("a bandwidth of a link", "400 Gbit/s", (*_BYTES, *_BITS), _SECOND, "byte/s"),
    "arithmetic": Dimension("a rate of arithmetic", "989 TFLOP/s", _OPERATIONS, _SECOND, "operation/s"),
    "time": Dimension("a length of time", "500 ms", (*_TIMES, "day", "days"), target="s", zero=True),
    "duration": Dimension("a length of time", "500 ms", (*_TIMES, "day", "days"), target="s"),
    "money": Dimension("an amount of money", "3 USD", ("USD",), target="USD", zero=True),
    "price": Dimension("a price per time", "2.49 USD/hour", ("USD",), _PER_HOUR, "USD/hour", zero=True),
    "cost-rate": Dimension(
        "a cost", "45000 USD/month", ("USD",), _PER_HOUR, "USD/hour", zero=True, likely=("USD/month", "USD")
    ),
    "request-rate": Dimension("a rate of requests", "4 request/s", ("request", "requests", ""), _PER_TIME, "request/s"),
    "arrival-rate": Dimension(
        "a rate of requests or sessions",
        "4 request/s",
        ("request", "requests", "session", "sessions", ""),
        _PER_TIME,
        "request/s",
    ),
    "token-rate": Dimension("a rate of tokens", "25 token/s", ("token", "tokens"), _PER_TIME, "token/s"),
    "growth": Dimension("a growth per month", "8 % / month", ("%",), ("month",), "1/month", zero=True),
    "power": Dimension("a power", "700 W", ("W", "kW", "MW", "watt", "watts"), target="W"),
    "energy": Dimension("an energy", "0.5 J", ("J", "kJ", "MJ", "Wh", "kWh", "MWh"), target="J"),
    "energy-price": Dimension("a price of energy", "0.12 USD/kWh", ("USD",), ("kWh",), "USD/J", zero=True),
    "share": Dimension("a share", "0.1 %", ("%",), bare=True, zero=True, maximum=1.0),
    "positive-share": Dimension("a share", "85 %", ("%",), bare=True, maximum=1.0),
    "count": Dimension("a count", "8192", bare=True, zero=True, maximum=1e18),
}
"""By the names that the schema's `quantity` gives. `cost` is `cost-rate` or `money`: see `planner.units.cost`."""

COST = ("cost-rate", "money")


def spellings(dimension: str) -> tuple[str, ...]:
    """Every unit that a field of `dimension` takes, the usual one first."""
    parts = COST if dimension == "cost" else (dimension,)
    return tuple(unit for part in parts for unit in DIMENSIONS[part].spellings)


NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"


def pattern(dimension: str) -> str:
    """A regular expression (Python and ECMA 262) of a text of `dimension`, for the JSON Schema.

    A bare number (a count, a share) is no text, so `count` has no text that matches.
    """
    if dimension == "cost":
        return f"^{NUMBER} ?(?:{'|'.join(_unit_pattern(DIMENSIONS[part]) for part in COST)})$"
    found = DIMENSIONS[dimension]
    above_zero = "" if found.zero else "(?=[0.]*[1-9])"
    return f"^{above_zero}{NUMBER} ?{_unit_pattern(found)}$" if found.numerators else r"^(?!)$"


def _unit_pattern(dimension: Dimension) -> str:
    above = f"(?:{'|'.join(unit for unit in dimension.numerators if unit)})"
    if not dimension.denominators:
        return above
    above = f"(?:{above} ?)?" if "" in dimension.numerators else f"{above} ?"
    return f"{above}/ ?(?:{'|'.join(dimension.denominators)})"
