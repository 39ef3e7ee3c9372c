"""What to say about a quantity that was written wrongly: what was read, what is wanted, the nearest right spelling."""

from __future__ import annotations

import difflib
import re
from decimal import Decimal

from planner.dimensions import NUMBER, Dimension
from planner.quoting import plain, quoted

LONGEST = 100
"""Characters of a quantity that are looked at. Nobody writes more, and patterns take time on long texts."""


class UnitError(ValueError):
    """A text that is not a quantity of the wanted dimension. `message` and `hint` are for its author."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def _error(written: object, wanted: Dimension, reason: str, *spellings: str) -> UnitError:
    hint = f"such as {quoted(wanted.example)}"
    if spellings:
        hint = f"write {' or '.join(quoted(text) for text in spellings)}"
    return UnitError(f"{quoted(written)} is not {wanted.wants}: {reason}", hint)


def not_a_quantity(value: object, wanted: Dimension) -> UnitError:
    """For lists, maps, booleans and null."""
    form = "a bare number is wanted" if wanted.bare else "one number and one unit are wanted"
    return _error(value, wanted, form)


def no_unit(value: float, wanted: Dimension) -> UnitError:
    """For a bare number where a unit is needed."""
    if not abs(value) < float("inf"):
        return _error(value, wanted, "it is not a finite number")
    if wanted.target == "1/month" and abs(value) < 1:
        return _error(value, wanted, "it has no unit", f"{value * 100:g} % / month")
    units = wanted.likely or wanted.spellings[:1]
    return _error(value, wanted, "it has no unit", *(f"{plain(value)} {unit}" for unit in units))


def not_whole(value: float, wanted: Dimension) -> UnitError:
    return _error(value, wanted, "it is not a whole number", str(round(value)))


def out_of_range(written: object, value: float, wanted: Dimension) -> UnitError:
    """For what has the right form and an impossible size."""
    if value != value:
        return _error(written, wanted, "it is not a finite number")
    if value < 0.0:
        return _error(written, wanted, "it is negative")
    if value == 0.0:
        return _error(written, wanted, "it must be greater than 0")
    if wanted.maximum == 1.0 and value > 1.0:
        percent = isinstance(written, (int, float)) and value <= 100.0
        spellings = (f"{value:g} %", f"{value / 100:g}") if percent else ()
        return _error(written, wanted, "it is above 1 (100 %)", *spellings)
    return _error(written, wanted, "it is larger or smaller than anything real")


def not_in_form(text: str, wanted: Dimension) -> UnitError:
    """For a text that is not one number and one unit (or, of a count, for any text)."""
    if len(text) > LONGEST:
        return _error(text, wanted, "it is too long")
    if not wanted.numerators:
        return _text_for_count(text, wanted)
    for reason, expression, rewrite in _FORMS:
        match = re.fullmatch(expression, text.strip())
        if match:
            spelling = rewrite(match, wanted)
            return _error(text, wanted, reason, *((spelling,) if spelling else ()))
    if re.fullmatch(NUMBER, text.strip()):
        if wanted.bare:
            error = _error(text, wanted, "it is text", text.strip())
            return UnitError(error.message, f"{error.hint} without quotes")
        units = wanted.likely or wanted.spellings[:1]
        return _error(text, wanted, "it has no unit", *(f"{text.strip()} {unit}" for unit in units))
    return _error(text, wanted, "one number and one unit are wanted")


def _plain_commas(match: re.Match[str], wanted: Dimension) -> str:
    thousands = re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", match[1])
    return f"{match[1].replace(',', '' if thousands else '.')} {match[2]}".strip()


def _dollars(match: re.Match[str], wanted: Dimension) -> str:
    period = (match[2] or "").strip(" /")
    word = {"h": "hour", "hr": "hour", "mo": "month"}.get(period, period)
    return f"{match[1]} USD" + (f"/{word}" if word else "/hour" if wanted.denominators else "")


def _clock(match: re.Match[str], wanted: Dimension) -> str:
    return f"{int(match[1]) * 60 + int(match[2])} minute" if match[3].strip() in ("h", "hour", "hours") else ""


def _unsigned(match: re.Match[str], wanted: Dimension) -> str:
    return match[1].strip()


def _nothing(match: re.Match[str], wanted: Dimension) -> str:
    return ""


_FORMS = (
    ("`$` is not read; money is in USD", r"\$ ?([0-9.]+)(.*)", _dollars),
    ("`$` is not read; money is in USD", r"([0-9.]+) ?\$(.*)", _dollars),
    ("hours and minutes are not read", r"([0-9]{1,4}):([0-9]{2})(?::[0-9.]+)?(.*)", _clock),
    ("a number has no commas", r"([0-9][0-9,]*,[0-9][0-9.,]*)(?: ?(.*))", _plain_commas),
    ("a number has no `_`", r"[0-9]+_[0-9_]+.*", _nothing),
    ("it is negative", r"-.*", _nothing),
    ("a number has no sign", r"\+(.*)", _unsigned),
    ("it is not a finite number", r"(?i:[.]?(?:nan|inf|infinity)\b.*)", _nothing),
    ("nothing is computed; write the result", r".*[*+^(].*|.*[0-9] ?[-/] ?[0-9].*", _nothing),
)


def _text_for_count(text: str, wanted: Dimension) -> UnitError:
    multiples = {"k": (1000, 1024), "m": (10**6,), "b": (10**9,), "t": (10**12,)}
    match = re.fullmatch(rf"({NUMBER}) ?([kKmMbBtT])", text)
    if match:
        numbers = (Decimal(match[1]) * multiple for multiple in multiples[match[2].lower()])
        return _error(text, wanted, "it is not a bare number", *(f"{number.normalize():f}" for number in numbers))
    digits = re.match(rf"{NUMBER}\b", text.replace(",", "").replace("_", ""))
    reason = "it is text; a bare number is wanted"
    return _error(text, wanted, reason, *((digits[0],) if digits else ()))


def wrong_unit(text: str, number: str, unit: str, wanted: Dimension, meaning: str) -> UnitError:
    """For a unit that the field does not take. meaning: what the unit measures, "" where it is unknown."""
    currency = re.match(r"(EUR|GBP|CNY|JPY|CHF|INR)\b", unit)
    if currency:
        return _error(text, wanted, f"`{currency[1]}` is not converted; money is in USD")
    if re.match(r"[kMGT]?bit\b", unit) and "byte" in wanted.numerators:
        byte = f"{Decimal(number) / 8:f} {unit.replace('bit', 'B')}"
        return _error(text, wanted, f"{quoted(unit)} counts bits", *((byte,) if "/" in wanted.spellings[0] else ()))
    near = nearest(unit, wanted)
    if re.fullmatch(r"[KMGTPE]i?b(?:/s|/sec|/second|ps)?", unit) and "bit" not in wanted.numerators:
        reason = f"{quoted(unit)} means bits"
    elif meaning and meaning != wanted.wants:
        reason = f"{quoted(unit)} is {meaning}"
    else:
        reason = f"unknown unit {quoted(unit)}"
    return _error(text, wanted, reason, *(f"{number} {found}" for found in near))


_WORDS = {
    **dict.fromkeys(("sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("hr", "hrs", "hours"), "hour"),
    **dict.fromkeys(("mins", "minutes"), "minute"),
    **dict.fromkeys(("msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("mo", "months"), "month"),
    **dict.fromkeys(("tok", "toks", "t"), "token"),
    **dict.fromkeys(("req", "reqs", "query", "queries", "r", "q"), "request"),
    **dict.fromkeys(("dollar", "dollars", "usdollar"), "usd"),
    **dict.fromkeys(("percent", "pct"), "%"),
}
_ABBREVIATIONS = {
    **dict.fromkeys(("rps", "qps"), "request/s"),
    **dict.fromkeys(("rpm", "qpm"), "request/minute"),
    "tps": "token/s",
    "tpm": "token/minute",
}
_TIMES = frozenset(("ns", "us", "ms", "minute", "hour", "day", "week", "month", "year"))
_PREFIXES = {name: name[0] for name in ("kilo", "mega", "giga", "tera", "peta")}
_PREFIXES |= {name: f"{name[0]}i" for name in ("kibi", "mebi", "gibi", "tebi", "pebi")}


def nearest(unit: str, wanted: Dimension) -> tuple[str, ...]:
    """At most two right spellings for a wrong one, the likeliest first."""
    key = _canonical(unit)
    known: dict[str, str] = {}
    for spelling in wanted.spellings:
        known.setdefault(spelling.lower(), spelling)
    suffix = f"/{wanted.denominators[0]}" if wanted.denominators else ""
    if re.match(r"[KMGTPE]b", unit) and "bit" in wanted.numerators:
        key = re.sub(r"^(.)b", r"\1bit", key)
    other_time = "/" in key and key.rpartition("/")[2] in _TIMES
    shorter = () if other_time else (key.split("/")[0] + suffix,)
    for candidate in (key, key + suffix, key.removesuffix("/s") + suffix, *shorter):
        if candidate in known:
            return _both(known[candidate], unit)
    if wanted.numerators[0] == "GB" and re.fullmatch(r"[kmgtp]i?", key.split("/")[0]):
        return _both(known[key.split("/")[0] + "b" + suffix], unit)
    if other_time:
        return ()  # the same number with another time would be another amount
    if key == "m" and wanted.target == "s":
        return ("minute",)
    close = difflib.get_close_matches(key, known, n=1) if len(key) > 1 else []
    return (known[close[0]],) if close else ()


def _both(spelling: str, unit: str) -> tuple[str, ...]:
    """Decimal and binary, where what was written does not say which (`G`, `gb`, `KB`)."""
    decimal = re.fullmatch(r"([kMGTP])B", spelling)
    if decimal is None or re.fullmatch(r"[kMGTP]B.*", unit):
        return (spelling,)
    return spelling, f"{decimal[1].upper()}iB"


def _canonical(unit: str) -> str:
    """Lower case, with the abbreviations that people use written out: `Tok/sec` -> `token/s`, `GBps` -> `gb/s`."""
    key = unit.lower().replace(" per ", "/").replace(" ", "")
    key = _ABBREVIATIONS.get(key, key)
    key = re.sub(r"^([kmgtp]i?b(?:it)?)ps$", r"\1/s", key)
    key = re.sub(r"^([kmgtpe]?)(flop|op)s(?=/|$)", r"\1\2", key)
    for word, prefix in _PREFIXES.items():
        key = re.sub(rf"^{word}(?:byte|bytes|b)(?=/|$)", f"{prefix}b", key)
    key = re.sub(r"^([kmgtp]i?)(?:bytes?)(?=/|$)", r"\1b", key)
    parts = [_WORDS.get(part, part) for part in key.split("/") if part not in ("gpu", "accelerator", "card")]
    return "/".join(parts)
