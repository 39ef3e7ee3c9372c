"""What a plain (unquoted) YAML scalar means: the YAML 1.2 core booleans, nulls and decimal numbers, else text."""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
# Leading zeros, `_`, `:`, `0x`, `.inf` and `.nan` are left out on purpose: what looks like them stays text, and the
# schema then says where. (YAML 1.1 reads 010 as 8, 1_000 as 1000 and 1:30 as 90.)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MAY_BE_SPECIAL = frozenset("~nNtTfF+-.0123456789")

LONGEST_NUMBER = 60
"""Characters. Nobody writes more, and reading digits takes time that grows with the square of their number."""


class NumberTooLargeError(ValueError):
    """A number that has no use: more digits, or a larger exponent, than a float holds."""


def resolve(text: str) -> Scalar:
    """The value of a plain scalar.

    Errors: NumberTooLargeError for a number of more than 60 characters or beyond 1.8e308.
    """
    if text and text[0] not in _MAY_BE_SPECIAL:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(_checked(text))
    if _FLOAT.fullmatch(text):
        return _finite(float(_checked(text)))
    return text


def _checked(text: str) -> str:
    if len(text) > LONGEST_NUMBER:
        raise NumberTooLargeError
    return text


def _finite(number: float) -> float:
    if number in (float("inf"), float("-inf")):
        raise NumberTooLargeError
    return number
