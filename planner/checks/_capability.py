"""The lowest compute capability among a plan's cards, which decides what kernels there are."""

from __future__ import annotations

from planner.domain.plan import Plan


def lowest(plan: Plan) -> float | None:
    """None where a card has none: not NVIDIA's, or figures without it."""
    found = [_number(card.compute_capability) for card in plan.hardware.cards]
    known = [value for value in found if value is not None]
    return min(known, default=None)


def _number(capability: str | None) -> float | None:
    try:
        return float(capability) if capability is not None else None
    except ValueError:
        return None
