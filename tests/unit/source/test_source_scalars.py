"""Plain scalars: the YAML 1.2 core schema (https://yaml.org/spec/1.2.2/#103-core-schema), less what misleads."""

from __future__ import annotations

import pytest

from planner.source.scalars import NumberTooLargeError, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("true", True),
        ("False", False),
        ("0", 0),
        ("8192", 8192),
        ("-3", -3),
        ("+3", 3),
        ("0.90", 0.9),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e9", 1e9),
        ("7e9", 7e9),
        ("1e3", 1000.0),
        ("1.0e3", 1000.0),
        ("1E-3", 0.001),
    ],
)
def test_core_words_and_numbers(text: str, value: object) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "no",  # the country
        "off",
        "yes",
        "on",
        "y",
        "12:30",  # YAML 1.1 reads 750
        "1:30",
        "010",  # YAML 1.1 reads 8
        "1_000",
        "0x10",
        "0o17",
        "2026-01-31",
        "2026-01-31 12:00:00",
        ".inf",
        "-.Inf",
        ".nan",
        "nan",
        "tRUE",
        "0.11.0",
        "1e",
        "-",
        "+",
        ".",
        "=",
        "5 GB",
        "１２",  # digits of another script
    ],
)
def test_what_only_looks_like_a_value_stays_text(text: str) -> None:
    assert resolve(text) == text


@pytest.mark.parametrize("text", ["1e999", "-1e400", "9" * 5000, "1." + "0" * 100])
def test_numbers_of_no_use_are_refused(text: str) -> None:
    with pytest.raises(NumberTooLargeError):
        resolve(text)
