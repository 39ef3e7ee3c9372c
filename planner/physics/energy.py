"""Power and energy of an accelerator that reads memory and multiplies: a constant, and what each byte and FLOP adds.

Choi, Bedard, Fowler and Vuduc, "A roofline model of energy", IPDPS 2013: energy = bytes x e_byte + FLOP x e_flop +
time x constant power. Divided by the time and by the rated power, with bytes and FLOP a second as shares of the peaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.physics import elementwise


@dataclass(frozen=True, slots=True)
class PowerShares:
    """Shares of the rated power. idle: nothing runs. active: steps run, whatever they do. memory: added at the peak
    bandwidth. arithmetic: added at the peak of arithmetic."""

    idle: float
    active: float
    memory: float
    arithmetic: float


def running_share(shares: PowerShares, bandwidth: Any, arithmetic: Any, limit: float = 1.0) -> Any:
    """Share of the rated power while steps run: min(limit, active + memory x u_m + arithmetic x u_a).

    bandwidth (u_m), arithmetic (u_a): of their peaks, while steps run. limit: a power cap, share of the rated power.
    """
    wanted = shares.active + shares.memory * bandwidth + shares.arithmetic * arithmetic
    return elementwise.minimum(elementwise.maximum(wanted, shares.idle), limit)


def mean_share(idle: Any, decode: Any, prefill: Any, busy: Any, prefill_share: Any) -> Any:
    """Mean over time: (1 - busy) idle + busy (p prefill + (1 - p) decode).

    idle, decode, prefill: shares of the rated power. busy: share of time in which steps run; prefill_share (p): of
    that, prefill.
    """
    return (1.0 - busy) * idle + busy * (prefill_share * prefill + (1.0 - prefill_share) * decode)


def busy_share(in_system: Any) -> Any:
    """Share of time in which at least one of many independent requests is in the system: 1 - exp(-L).

    in_system (L): mean number, arrival rate x mean time in the system (Little). Exact for Poisson arrivals that do
    not wait (M/G/infinity: the number in the system is Poisson).
    """
    return 1.0 - elementwise.exponential(-in_system)
