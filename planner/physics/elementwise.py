"""The few operations that differ between a float and an array. numpy is touched only when an argument is an array."""

from __future__ import annotations

import math
import sys
from typing import Any


def _numpy(*values: Any) -> Any:
    """numpy, if any value is one of its arrays; else None. Never imports it."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and any(isinstance(value, numpy.ndarray) for value in values):
        return numpy
    return None


def maximum(first: Any, second: Any) -> Any:
    numpy = _numpy(first, second)
    return numpy.maximum(first, second) if numpy else max(first, second)


def minimum(first: Any, second: Any) -> Any:
    numpy = _numpy(first, second)
    return numpy.minimum(first, second) if numpy else min(first, second)


def where(condition: Any, if_true: Any, if_false: Any) -> Any:
    numpy = _numpy(condition, if_true, if_false)
    if numpy:
        return numpy.where(condition, if_true, if_false)
    return if_true if condition else if_false


def ceil(value: Any) -> Any:
    numpy = _numpy(value)
    return numpy.ceil(value) if numpy else float(math.ceil(value))


def floor(value: Any) -> Any:
    numpy = _numpy(value)
    return numpy.floor(value) if numpy else float(math.floor(value))


def power(base: Any, exponent: Any) -> Any:
    numpy = _numpy(base, exponent)
    return numpy.power(base, exponent) if numpy else base**exponent


def logarithm(value: Any) -> Any:
    numpy = _numpy(value)
    return numpy.log(value) if numpy else math.log(value)


def exponential(value: Any) -> Any:
    numpy = _numpy(value)
    return numpy.exp(value) if numpy else math.exp(value)
