"""What ranks talk over, as far as the memory of their communicators goes."""

from __future__ import annotations

from planner.domain.accelerator import Interconnect

SWITCHED = ("nvswitch", "xgmi-mesh", "torus")


def fabric(links: Interconnect) -> str:
    """`switched` where every card reaches every other over a fabric of their own, else `direct` (pairs, PCIe).

    Libraries set up multicast and peer buffers on the former. A topology that is not stated goes by its speed.
    """
    if links.topology:
        return "switched" if links.topology in SWITCHED else "direct"
    return "switched" if (links.scale_up_bytes_per_s or 0.0) >= 200e9 else "direct"
