"""Time of a kernel that reads and computes: which of the two limits it, and how sharp the corner is."""

from __future__ import annotations

import math
from typing import Any

from planner.physics import elementwise


def roofline_s(read_s: Any, arithmetic_s: Any, exponent: float) -> Any:
    """(read^p + arithmetic^p)^(1/p), seconds; p = infinity is the textbook's max(read, arithmetic).

    read_s: bytes over achieved bandwidth. arithmetic_s: FLOP over achieved FLOP/s. exponent: p, 1 to infinity:
    near the ridge neither hides the other whole, so measured products take longer than the larger of the two
    (p of 1.2 to 2 on A100, H100, A40 and RTX PRO 6000: profiles of microsoft/vidur and casys-kaist/LLMServingSim).
    """
    if math.isinf(exponent):
        return elementwise.maximum(read_s, arithmetic_s)
    if isinstance(read_s, float) and isinstance(arithmetic_s, float):  # every step of a simulation comes here
        return (read_s**exponent + arithmetic_s**exponent) ** (1.0 / exponent)
    total = elementwise.power(read_s, exponent) + elementwise.power(arithmetic_s, exponent)
    return elementwise.power(total, 1.0 / exponent)
