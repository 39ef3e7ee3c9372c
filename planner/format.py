"""The one place that rounds for print. Figures come in SI units and leave as text; None leaves as "n/a"."""

from __future__ import annotations

import math
from typing import Literal

NOT_AVAILABLE = "n/a"
UNLIMITED = "unlimited"

Dimension = Literal[
    "bytes",
    "bytes/s",
    "flop/s",
    "flop",
    "seconds",
    "usd",
    "usd/hour",
    "usd/month",
    "tokens",
    "tokens/s",
    "requests/s",
    "sequences",
    "accelerators",
    "count",
    "share",
    "factor",
    "watts",
    "joules",
]
"""What a figure measures: enough to print it."""

_DECIMAL = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18))
_BINARY = (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30))
_BYTES = (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))


def significant(value: float, digits: int = 3) -> str:
    """`value` to `digits` significant digits, never fewer than its whole part: 31.2, 0.0415, 1,323."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if round(abs(value), digits - 1 - magnitude) >= 10.0 ** (magnitude + 1):
        magnitude += 1
    return _fixed(value, max(digits - 1 - magnitude, 0))


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def _scaled(value: float, scales: tuple[tuple[str, float], ...], digits: int = 3) -> tuple[str, str]:
    """(number, prefix) under the largest scale that leaves one whole digit after rounding."""
    chosen = scales[0]
    for name, size in scales:
        if abs(value) >= size * (1 - 0.5 * 10.0**-digits):
            chosen = (name, size)
    return significant(value / chosen[1], digits), chosen[0]


def _unprintable(value: float | None) -> str:
    """ "n/a" for None and NaN, "unlimited" for infinity, "" for a number."""
    if value is None or math.isnan(value):
        return NOT_AVAILABLE
    return UNLIMITED if math.isinf(value) else ""


def _storage(value: float, scales: tuple[tuple[str, float], ...]) -> str:
    """One decimal from ten upwards (capacity needs it: 79.2, not 79), three significant digits below."""
    name, size = next(((name, size) for name, size in reversed(scales) if abs(value) >= size * 0.9995), scales[0])
    scaled = value / size
    if name == "B":
        return f"{scaled:,.0f} B"
    return f"{_fixed(scaled, 1) if abs(scaled) >= 9.995 and name.startswith('G') else significant(scaled)} {name}"


def memory(value: float | None) -> str:
    """Bytes as binary units with decimal ones in brackets: 29.1 GiB (31.2 GB)."""
    if value is None or (unprintable := _unprintable(value)):
        return NOT_AVAILABLE if value is None else unprintable
    return f"{gibibytes(value)} ({gigabytes(value)})"


def gibibytes(value: float) -> str:
    """Bytes in binary units: 29.1 GiB."""
    return _storage(value, _BINARY)


def gigabytes(value: float) -> str:
    """Bytes in decimal units: 31.2 GB."""
    return _storage(value, _BYTES)


def bandwidth(value: float | None) -> str:
    """Bytes a second in decimal units: 3.35 TB/s."""
    return _decimal(value, "B/s")


def arithmetic(value: float | None) -> str:
    """Operations a second in decimal units: 989 TFLOP/s."""
    return _decimal(value, "FLOP/s")


def _decimal(value: float | None, unit: str) -> str:
    if value is None or (unprintable := _unprintable(value)):
        return NOT_AVAILABLE if value is None else unprintable
    number, prefix = _scaled(value, _DECIMAL)
    return f"{number} {prefix}{unit}"


def duration(value: float | None) -> str:
    """Seconds with three significant digits, in s from one second, else in ms: 31.2 ms."""
    if value is None or (unprintable := _unprintable(value)):
        return NOT_AVAILABLE if value is None else unprintable
    if abs(value) >= 0.9995:
        return f"{significant(value)} s"
    return f"{significant(value * 1e3)} ms"


def dollars(value: float | None, unit: str = "USD") -> str:
    """USD with cents below a thousand, three significant digits below one."""
    if value is None or (unprintable := _unprintable(value)):
        return NOT_AVAILABLE if value is None else unprintable
    if abs(value) >= 999.995:
        return f"{_fixed(value, 0)} {unit}"
    return f"{_fixed(value, 2) if abs(value) >= 0.9995 else significant(value)} {unit}"


def percent(share: float | None) -> str:
    """A share as per cent: one decimal, two below one per cent."""
    if share is None or (unprintable := _unprintable(share)):
        return NOT_AVAILABLE if share is None else unprintable
    value = share * 100
    return f"{_fixed(value, 2 if 0 < abs(value) < 0.995 else 1)} %"


def change(share: float | None) -> str:
    """A relative change with its sign, "" where nothing moved by a tenth of a per cent."""
    if share is None or _unprintable(share) or abs(share) < 0.0005:
        return ""
    if share >= 9.995:
        return f"x{significant(1 + share)}"
    return f"{share * 100:+.1f} %"


def count(value: float | None, noun: str = "") -> str:
    """A number of things: whole numbers in full, others with three significant digits."""
    if value is None or (unprintable := _unprintable(value)):
        return NOT_AVAILABLE if value is None else unprintable
    if value != int(value) and abs(value) < 1000:
        text = significant(value)
    elif abs(value) < 1e9:
        text = _fixed(value, 0)
    else:
        number, prefix = _scaled(value, (("", 1.0), ("e9", 1e9), ("e12", 1e12)))
        text = f"{number}{prefix}"
    return f"{text} {noun}" if noun else text


def rate(value: float | None, noun: str) -> str:
    """Things a second, three significant digits and never fewer than the whole part: 1,323 tokens/s."""
    if value is None or (unprintable := _unprintable(value)):
        return NOT_AVAILABLE if value is None else unprintable
    return f"{significant(value)} {noun}/s"


def factor(value: float | None) -> str:
    """A plain ratio: x0.50."""
    if value is None or (unprintable := _unprintable(value)):
        return NOT_AVAILABLE if value is None else unprintable
    return f"x{_fixed(value, 2) if 0.095 <= value < 9.995 else significant(value)}"


def quantity(value: float | None, dimension: Dimension) -> str:
    """`value` as figures of its dimension are printed."""
    match dimension:
        case "bytes":
            return memory(value)
        case "bytes/s":
            return bandwidth(value)
        case "flop/s":
            return arithmetic(value)
        case "flop":
            return _decimal(value, "FLOP")
        case "seconds":
            return duration(value)
        case "usd" | "usd/hour" | "usd/month":
            return dollars(value, dimension.replace("usd", "USD"))
        case "tokens/s" | "requests/s":
            return rate(value, dimension.removesuffix("/s"))
        case "share":
            return percent(value)
        case "factor":
            return factor(value)
        case "watts":
            return _decimal(value, "W")
        case "joules":
            return _decimal(value, "J")
    return count(value, _noun(value, dimension))


def _noun(value: float | None, dimension: Dimension) -> str:
    """The thing that is counted; of one, in the singular."""
    if dimension == "count":
        return ""
    return dimension.removesuffix("s") if value == 1 else dimension


def band(value: float | None, low: float | None, high: float | None, word: str, dimension: Dimension) -> str:
    """An estimate and its band: 31.2 ms (15.6 to 62.4, prior). The unit is dropped where all three share it."""
    text = quantity(value, dimension)
    if value is None or low is None or high is None or low == high:
        return text
    ends = [quantity(end, dimension) for end in (low, high)]
    unit = text.partition(" ")[2]
    if dimension != "bytes" and unit and all(end.partition(" ")[2] == unit for end in ends):
        ends = [end.partition(" ")[0] for end in ends]
    return f"{text} ({ends[0]} to {ends[1]}, {word})"
