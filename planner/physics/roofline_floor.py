"""The floor of a step: bytes over bandwidth, operations over arithmetic. Nothing real is faster."""

from __future__ import annotations

from typing import Any

from planner.physics import elementwise


def read_s(read_bytes: Any, bandwidth_bytes_per_s: float, achieved: float = 1.0) -> Any:
    """Time to read: t = bytes / (bandwidth x achieved fraction), seconds."""
    return read_bytes / (bandwidth_bytes_per_s * achieved)


def compute_s(flop: Any, arithmetic_flop_per_s: float, achieved: float = 1.0) -> Any:
    """Time to compute: t = FLOP / (arithmetic x achieved fraction), seconds."""
    return flop / (arithmetic_flop_per_s * achieved)


def distinct_experts(experts: float, experts_per_token: float, tokens: Any) -> Any:
    """Expected distinct experts that `tokens` touch under uniform routing: E (1 - (1 - k/E)^tokens).

    Source: coupon counting.
    """
    return experts * (1.0 - elementwise.power(1.0 - experts_per_token / experts, tokens))
