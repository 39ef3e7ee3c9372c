"""Rounding for print, against figures of the textbook and of data sheets."""

from __future__ import annotations

import math

import pytest

from planner import format as printed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (14e9, "13.0 GiB (14.0 GB)"),  # 14e9 / 2**30 = 13.04
        (82.7195e9, "77.0 GiB (82.7 GB)"),  # 14e9 + 68.7195e9
        (80e9, "74.5 GiB (80.0 GB)"),
        (2**29, "512 MiB (537 MB)"),  # 4096 tokens of 131,072 bytes
        (131_072, "128 KiB (131 kB)"),
        (8 * 2**30, "8.00 GiB (8.59 GB)"),
        (0, "0 B (0 B)"),
        (-2.72e9, "-2.53 GiB (-2.72 GB)"),
        (None, "n/a"),
    ],
)
def test_memory_is_printed_in_both_units(value: float | None, text: str) -> None:
    assert printed.memory(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0312, "31.2 ms"),
        (0.00999999, "10.0 ms"),
        (0.9996, "1.00 s"),  # 1000 ms would be four digits
        (0.99949, "999 ms"),
        (1.234, "1.23 s"),
        (1234.5, "1,234 s"),
        (0.0, "0 ms"),
        (4.15e-5, "0.0415 ms"),
        (math.inf, "unlimited"),
        (math.nan, "n/a"),
        (None, "n/a"),
    ],
)
def test_durations_have_three_significant_digits(value: float | None, text: str) -> None:
    assert printed.duration(value) == text


@pytest.mark.parametrize(("value", "text"), [(66.29, "66.3"), (512.9, "513"), (1026.2, "1,026"), (999.7, "1,000")])
def test_rates_keep_their_whole_part(value: float, text: str) -> None:
    assert printed.rate(value, "tokens") == f"{text} tokens/s"


def test_bandwidth_and_arithmetic_are_decimal() -> None:
    assert printed.bandwidth(3.35e12) == "3.35 TB/s"
    assert printed.bandwidth(900e9) == "900 GB/s"
    assert printed.bandwidth(999.9e9) == "1.00 TB/s"
    assert printed.arithmetic(989e12) == "989 TFLOP/s"


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.4, "2.40 USD"), (14541.6, "14,542 USD"), (0.01234, "0.0123 USD"), (999.996, "1,000 USD"), (0.0, "0 USD")],
)
def test_dollars(value: float, text: str) -> None:
    assert printed.dollars(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.001, "0.10 %"), (0.234, "23.4 %"), (1.0412, "104.1 %"), (0.0, "0.0 %"), (-0.034, "-3.4 %")]
)
def test_percent(share: float, text: str) -> None:
    assert printed.percent(share) == text


def test_changes_carry_their_sign_and_small_ones_are_silent() -> None:
    assert printed.change(-0.5) == "-50.0 %"
    assert printed.change(1.653) == "+165.3 %"
    assert printed.change(0.0004) == ""
    assert printed.change(19.0) == "x20.0"


def test_a_band_shares_the_unit_of_its_estimate() -> None:
    assert printed.band(0.0312, 0.0156, 0.0624, "prior", "seconds") == "31.2 ms (15.6 to 62.4, prior)"
    assert printed.band(0.7, 0.35, 1.4, "prior", "seconds") == "700 ms (350 ms to 1.40 s, prior)"
    assert printed.band(0.0312, 0.0312, 0.0312, "prior", "seconds") == "31.2 ms"
    assert printed.band(None, None, None, "prior", "seconds") == "n/a"


def test_counts() -> None:
    assert printed.count(8192, "tokens") == "8,192 tokens"
    assert printed.count(15.37) == "15.4"
    assert printed.count(7e9) == "7.00e9"
    assert printed.factor(0.5) == "x0.50"
    assert printed.factor(1.03) == "x1.03"
