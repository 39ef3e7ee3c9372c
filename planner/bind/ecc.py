"""Error correction in GDDR memory: whether a card's figures have it in, and the figures with or without it."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.accelerator import Accelerator

KEPT = 15 / 16
"""Of capacity and of bandwidth: one byte of check bits for fifteen of data (48 GB cards: 46,068 of 49,140 MiB)."""
_COUNTED_BELOW = 0.96


def counted(card: Accelerator) -> bool:
    """Whether the capacity that the driver reports is the printed one less the check bits."""
    reported, printed = card.driver_bytes or card.capacity_bytes, card.marketed_bytes
    return bool(printed) and reported / (printed or 1.0) < _COUNTED_BELOW


def corrected(card: Accelerator, declared: bool | None) -> Accelerator:
    """The card with ECC as declared. HBM and LPDDR, and figures that have it as declared, stay as they are."""
    if declared is None or not card.memory_type.upper().startswith("GDDR") or declared is counted(card):
        return card
    factor = KEPT if declared else 1.0 / KEPT
    return replace(
        card,
        capacity_bytes=card.capacity_bytes * factor,
        driver_bytes=card.driver_bytes * factor if card.driver_bytes else None,
        bandwidth_bytes_per_s=card.bandwidth_bytes_per_s * (KEPT if declared else 1.0),
    )
