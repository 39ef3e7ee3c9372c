"""Quantities: values by hand, traps with their messages, and laws."""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import units
from planner.unit_factors import FACTORS
from planner.units import UnitError, cost, pattern, problem, si

REGISTRY: Any = pint.UnitRegistry(str(Path(units.__file__).with_name("units.txt")))


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("80 GB", "memory", 80e9),
        ("80GB", "memory", 80e9),
        ("80 GiB", "memory", 85_899_345_920),  # 80 x 2^30
        ("512 MiB", "memory", 536_870_912),  # 512 x 2^20
        ("1e3 MB", "memory", 1e9),
        (".5 TB", "memory", 5e11),
        ("3.35 TB/s", "bandwidth", 3.35e12),
        ("900 GB/s", "bandwidth", 9e11),
        ("900 GB / second", "bandwidth", 9e11),
        ("400 Gbit/s", "link", 5e10),  # 400 / 8
        ("450 GB/s", "link", 4.5e11),
        ("989 TFLOP/s", "arithmetic", 9.89e14),
        ("275 TOP/s", "arithmetic", 2.75e14),
        ("500 ms", "time", 0.5),
        ("2 s", "time", 2),
        ("1.5 minute", "time", 90),
        ("8 hour", "time", 28_800),
        ("20 us", "time", 2e-5),
        ("0 ms", "time", 0),
        ("3 USD", "money", 3),
        ("2.49 USD/hour", "price", 2.49),
        ("730 USD/month", "price", 1),  # a month is 730 hour
        ("48 USD/day", "price", 2),
        ("45000 USD/month", "cost", 45_000 / 730),
        ("400 USD", "cost", 400),
        ("4 request/s", "request-rate", 4),
        ("240 request/minute", "request-rate", 4),
        ("0.5 / second", "request-rate", 0.5),
        ("0.5/s", "request-rate", 0.5),
        ("7200 requests/hour", "request-rate", 2),
        ("30 session/minute", "arrival-rate", 0.5),
        ("25 token/s", "token-rate", 25),
        ("8 % / month", "growth", 0.08),
        ("8%/month", "growth", 0.08),
        ("700 W", "power", 700),
        ("0.7 kW", "power", 700),
        ("1.5 J", "energy", 1.5),
        ("0.3 Wh", "energy", 1080),
        ("2 kWh", "energy", 7.2e6),
        ("0.18 USD/kWh", "energy-price", 5e-8),
        ("0.1 %", "share", 0.001),
        ("0.1%", "share", 0.001),
        (0.001, "share", 0.001),
        (1, "share", 1),
        (0, "share", 0),
        (8192, "count", 8192),
        (7e9, "count", 7e9),
        (0, "count", 0),
    ],
)
def test_values(text: object, dimension: str, value: float) -> None:
    assert si(text, dimension) == value
    assert type(si(text, dimension)) is float
    assert problem(text, dimension) is None


def test_a_cost_is_a_rate_or_a_total() -> None:
    assert cost("730 USD/month") == (1.0, "rate")
    assert cost("400 USD") == (400.0, "total")


TRAPS = [
    # memory
    (80, "memory", "it has no unit", "write `80 GB` or `80 GiB`"),
    ("80", "memory", "it has no unit", "write `80 GB` or `80 GiB`"),
    ("80 Gb", "memory", "`Gb` means bits", "write `80 GB` or `80 GiB`"),
    ("80 G", "memory", "unknown unit `G`", "write `80 GB` or `80 GiB`"),
    ("80 Gi", "memory", "unknown unit `Gi`", "write `80 GiB`"),
    ("80 gb", "memory", "unknown unit `gb`", "write `80 GB` or `80 GiB`"),
    ("80 mb", "memory", "unknown unit `mb`", "write `80 MB` or `80 MiB`"),
    ("80 KB", "memory", "unknown unit `KB`", "write `80 kB` or `80 KiB`"),
    ("80 gibibytes", "memory", "unknown unit `gibibytes`", "write `80 GiB`"),
    ("80 GB/s", "memory", "`GB/s` is a bandwidth", "write `80 GB`"),
    ("80GB*2", "memory", "nothing is computed; write the result", "such as `80 GB`"),
    ("80 GB + 1", "memory", "nothing is computed; write the result", "such as `80 GB`"),
    ("1/3 GB", "memory", "nothing is computed; write the result", "such as `80 GB`"),
    ("nan GB", "memory", "it is not a finite number", "such as `80 GB`"),
    ("inf GB", "memory", "it is not a finite number", "such as `80 GB`"),
    ("-5 GB", "memory", "it is negative", "such as `80 GB`"),
    ("+5 GB", "memory", "a number has no sign", "write `5 GB`"),
    ("0 GB", "memory", "it must be greater than 0", "such as `80 GB`"),
    ("1e300 GB", "memory", "it is larger or smaller than anything real", "such as `80 GB`"),
    ("80  GB", "memory", "one number and one unit are wanted", "such as `80 GB`"),
    ("80 GB free", "memory", "unknown unit `GB free`", "such as `80 GB`"),
    ("8０ GB", "memory", "one number and one unit are wanted", "such as `80 GB`"),
    (None, "memory", "one number and one unit are wanted", "such as `80 GB`"),
    (True, "memory", "one number and one unit are wanted", "such as `80 GB`"),
    (["80 GB"], "memory", "one number and one unit are wanted", "such as `80 GB`"),
    # bandwidth and links
    ("3.35 TB", "bandwidth", "`TB` is an amount of memory", "write `3.35 TB/s`"),
    ("3,350 GB/s", "bandwidth", "a number has no commas", "write `3350 GB/s`"),
    ("3,35 TB/s", "bandwidth", "a number has no commas", "write `3.35 TB/s`"),
    ("900 GBps", "bandwidth", "unknown unit `GBps`", "write `900 GB/s`"),
    ("900 Gbps", "bandwidth", "`Gbps` means bits", "write `900 GB/s`"),
    ("400 Gbit/s", "bandwidth", "`Gbit/s` counts bits", "write `50 GB/s`"),
    ("900 GB/ms", "bandwidth", "unknown unit `GB/ms`", "such as `3.35 TB/s`"),
    (3.35, "bandwidth", "it has no unit", "write `3.35 GB/s` or `3.35 TB/s`"),
    ("400 Gbps", "link", "unknown unit `Gbps`", "write `400 Gbit/s`"),
    ("400 GBps", "link", "unknown unit `GBps`", "write `400 GB/s`"),
    # arithmetic
    ("989 TFLOPS/s", "arithmetic", "unknown unit `TFLOPS/s`", "write `989 TFLOP/s`"),
    ("989 TFLOPS", "arithmetic", "unknown unit `TFLOPS`", "write `989 TFLOP/s`"),
    ("989 TFLOP", "arithmetic", "unknown unit `TFLOP`", "write `989 TFLOP/s`"),
    (989, "arithmetic", "it has no unit", "write `989 TFLOP/s`"),
    # time
    ("500 mS", "time", "unknown unit `mS`", "write `500 ms`"),
    ("1:30 h", "time", "hours and minutes are not read", "write `90 minute`"),
    (500, "time", "it has no unit", "write `500 ms`"),
    ("5 sec", "time", "unknown unit `sec`", "write `5 s`"),
    ("-1 s", "time", "it is negative", "such as `500 ms`"),
    # money
    (2.49, "money", "it has no unit", "write `2.49 USD`"),
    ("$3", "money", "`$` is not read; money is in USD", "write `3 USD`"),
    ("3 EUR", "money", "`EUR` is not converted; money is in USD", "such as `3 USD`"),
    ("$2.5/h", "price", "`$` is not read; money is in USD", "write `2.5 USD/hour`"),
    ("2.5 $/h", "price", "`$` is not read; money is in USD", "write `2.5 USD/hour`"),
    ("2 USD/GPU/hour", "price", "unknown unit `USD/GPU/hour`", "write `2 USD/hour`"),
    ("2.49 USD", "price", "`USD` is an amount of money", "write `2.49 USD/hour`"),
    (400, "cost", "it has no unit", "write `400 USD/month` or `400 USD`"),
    ("4 EUR", "cost", "`EUR` is not converted; money is in USD", "such as `45000 USD/month`"),
    # rates
    (4, "request-rate", "it has no unit", "write `4 request/s`"),
    ("4 req/s", "request-rate", "unknown unit `req/s`", "write `4 request/s`"),
    ("4 rps", "request-rate", "unknown unit `rps`", "write `4 request/s`"),
    ("4 token/s", "request-rate", "`token/s` is a rate of tokens", "such as `4 request/s`"),
    ("0 request/s", "request-rate", "it must be greater than 0", "such as `4 request/s`"),
    ("25 tok/s", "token-rate", "unknown unit `tok/s`", "write `25 token/s`"),
    ("25 request/s", "token-rate", "`request/s` is a rate of requests", "such as `25 token/s`"),
    ("8 %", "growth", "`%` is a share", "write `8 %/month`"),
    ("8 % / year", "growth", "unknown unit `%/year`", "such as `8 % / month`"),
    (0.08, "growth", "it has no unit", "write `8 % / month`"),
    # power
    (700, "power", "it has no unit", "write `700 W`"),
    ("1.5 W", "energy", "`W` is a power", "such as `0.5 J`"),
    ("0.12 USD", "energy-price", "`USD` is an amount of money", "write `0.12 USD/kWh`"),
    # shares
    (10, "share", "it is above 1 (100 %)", "write `10 %` or `0.1`"),
    ("150 %", "share", "it is above 1 (100 %)", "such as `0.1 %`"),
    (-0.1, "share", "it is negative", "such as `0.1 %`"),
    ("10", "share", "it is text", "write `10` without quotes"),
    # counts
    ("8k", "count", "it is not a bare number", "write `8000` or `8192`"),
    ("7B", "count", "it is not a bare number", "write `7000000000`"),
    ("8192 tokens", "count", "it is text; a bare number is wanted", "write `8192`"),
    ("8,192", "count", "it is text; a bare number is wanted", "write `8192`"),
    ("0x10", "count", "it is text; a bare number is wanted", "such as `8192`"),
    (8192.5, "count", "it is not a whole number", "write `8192`"),
    (-1, "count", "it is negative", "such as `8192`"),
    (float("inf"), "count", "it is larger or smaller than anything real", "such as `8192`"),
    (float("nan"), "count", "it is not a finite number", "such as `8192`"),
    (10**400, "count", "it is larger or smaller than anything real", "such as `8192`"),
    (True, "count", "a bare number is wanted", "such as `8192`"),
]


@pytest.mark.parametrize(("text", "dimension", "reason", "hint"), TRAPS)
def test_traps(text: object, dimension: str, reason: str, hint: str) -> None:
    found = problem(text, dimension)
    assert found is not None
    assert found[0].endswith(f": {reason}")
    assert found[1] == hint
    with pytest.raises(UnitError):
        si(text, dimension)


@pytest.mark.parametrize(("text", "dimension", "reason", "hint"), TRAPS)
def test_what_a_hint_says_to_write_is_right(text: object, dimension: str, reason: str, hint: str) -> None:
    for spelling in re.findall("`([^`]+)`", hint):
        bare = dimension in ("count", "share") and re.fullmatch(r"[0-9.]+", spelling)
        value = float(spelling) if bare else spelling
        assert problem(value, dimension) is None or "without quotes" in hint


def test_the_message_says_what_was_read_and_what_is_wanted() -> None:
    assert problem("3.35 TB", "bandwidth") == (
        "`3.35 TB` is not a bandwidth: `TB` is an amount of memory",
        "write `3.35 TB/s`",
    )


def test_text_of_others_is_shown_harmlessly_and_short() -> None:
    for text in ("80 \x1b[31mGB", "9" * 100_000 + " GB", "80 " + "G" * 100_000, "(" * 100_000, "8 \u202eBG"):
        found = problem(text, "memory")
        assert found is not None
        assert found[0].isprintable() and found[1].isprintable()
        assert len(found[0]) < 250


def test_an_unknown_dimension_is_a_bug() -> None:
    with pytest.raises(KeyError):
        si("1 s", "temperature")


# The definitions


def test_bits_tokens_and_requests_do_not_convert_to_bare_numbers() -> None:
    for unit in ("bit", "byte", "token", "request", "session", "operation", "USD"):
        assert not REGISTRY.Quantity(1, unit).dimensionless
    for text in ("80 byte + 1", "1 token + 1 request"):
        with pytest.raises(pint.DimensionalityError):
            REGISTRY(text)


@pytest.mark.parametrize("name", ["G", "Gb", "mb", "mol", "gauss", "gilbert", "pi", "c", "e"])
def test_nothing_else_is_defined(name: str) -> None:
    with pytest.raises(pint.UndefinedUnitError):
        REGISTRY.parse_units(name)


def test_the_table_of_factors_is_what_pint_says() -> None:
    written = Path(units.__file__).with_name("unit_factors.py").read_text(encoding="utf-8")
    assert written == units.table(), "run `python -m planner.units`"
    assert set(FACTORS) == {unit for found in units.SPELLINGS.values() for unit in found}


def test_a_right_spec_imports_neither_pint_nor_numpy() -> None:
    program = (
        "import sys; from planner import units; units.si('80 GiB', 'memory'); units.cost('3 USD/hour'); "
        "units.problem('80', 'memory'); sys.exit('pint' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_spelling_outside_the_table_is_asked_of_pint(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = units.factor("USD/month")
    monkeypatch.setattr(units, "FACTORS", {})
    assert units.factor("USD/month") == expected == (1, 730)
    assert units.factor("Gbit/s") == (125_000_000, 1)


# Laws

WITH_UNITS = sorted(set(units.SPELLINGS) - {"count"})
EVERY_SPELLING = [(name, unit) for name in WITH_UNITS for unit in units.SPELLINGS[name]]
NUMBERS = st.decimals(min_value="0.001", max_value="0.999", places=3)


@given(st.sampled_from(EVERY_SPELLING), NUMBERS)
def test_every_spelling_is_read_and_matches_its_pattern(spelling: tuple[str, str], number: Any) -> None:
    dimension, unit = spelling
    for text in (f"{number} {unit}", f"{number}{unit}", f"{number} {unit.replace('/', ' / ').lstrip()}"):
        assert problem(text, dimension) is None
        assert re.search(pattern(dimension), text)


@given(st.sampled_from(EVERY_SPELLING), NUMBERS)
def test_the_value_is_the_nearest_float_to_the_exact_product(spelling: tuple[str, str], number: Any) -> None:
    dimension, unit = spelling
    exact = Fraction(number) * Fraction(*units.factor(unit))
    assert si(f"{number} {unit}", dimension) == float(exact)


@given(st.integers(1, 10**6), st.sampled_from([("GB", "MB", 1000), ("GiB", "MiB", 1024), ("TB", "GB", 1000)]))
def test_the_unit_of_an_amount_of_memory_changes_nothing(number: int, pair: tuple[str, str, int]) -> None:
    larger, smaller, ratio = pair
    assert si(f"{number} {larger}", "memory") == si(f"{number * ratio} {smaller}", "memory")


@given(st.integers(1, 10**6))
def test_the_unit_of_a_time_a_rate_or_a_share_changes_nothing(number: int) -> None:
    assert si(f"{number} ms", "time") == si(f"{number / 1000!r} s", "time") == si(f"{number * 1000} us", "time")
    assert si(f"{number} minute", "time") == si(f"{number * 60} s", "time")
    assert si(f"{number} request/s", "request-rate") == si(f"{number * 60} / minute", "request-rate")
    assert si(f"{number} Gbit/s", "link") == si(f"{number * 125} MB/s", "link")
    assert si(f"{number} USD/hour", "price") == si(f"{number * 730} USD/month", "price")


@given(st.integers(0, 100_000))
def test_a_percentage_equals_its_share(number: int) -> None:
    assert si(f"{number / 1000:.3f} %", "share") == number / 100_000


@given(st.text(max_size=30), st.sampled_from(WITH_UNITS))
def test_whatever_matches_a_pattern_is_read_and_nothing_else(text: str, dimension: str) -> None:
    found = problem(text, dimension)
    if re.search(pattern(dimension), text) is None:
        assert found is not None
    if found is not None:
        assert found[0].isprintable()


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.lists(st.integers(), max_size=2)))
def test_nothing_makes_it_raise_anything_else(value: object) -> None:
    for dimension in units.SPELLINGS:
        found = problem(value, dimension)
        if found is None:
            assert 0.0 <= si(value, dimension) <= 1e18
