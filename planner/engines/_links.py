"""What ranks talk over, as far as the memory of their communicators goes."""

from __future__ import annotations

from planner.domain.accelerator import Interconnect

OWN_FABRIC = ("nvswitch", "nvlink-pair", "xgmi-mesh", "torus")


def fabric(links: Interconnect) -> str:
    """`nvlink` where cards have a fabric of their own (NVLink, xGMI), else `pcie`. Unstated topologies go by speed."""
    if links.topology:
        return "nvlink" if links.topology in OWN_FABRIC else "pcie"
    return "nvlink" if (links.scale_up_bytes_per_s or 0.0) >= 100e9 else "pcie"
