"""How many of the sequences that a load declares one replica's cache holds at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan


@dataclass(frozen=True, slots=True)
class Held:
    """Sequences of one replica.

    declared: that the load keeps in it. guaranteed: held together, each at its promised length. expected: held
    together at mean length, or as an engine that reserves the maximum admits them.
    """

    declared: float
    guaranteed: float
    expected: float

    @property
    def sentence(self) -> str:
        """ "its cache holds 48 of the 128 sequences together at the promised length (guaranteed), and all of ..."."""
        return (
            f"its cache holds {_of(self.guaranteed, self.declared)} sequences together at the promised length "
            f"(guaranteed), and {_on_average(self.expected, self.declared)} on average (expected)"
        )


def short(plan: Plan, result: PlanResult) -> Held | None:
    """Of an engine that starts, where fewer than declared are guaranteed to be held; None where all are.

    declared = concurrency / replicas, expected = pool / bytes of a sequence of mean length.
    """
    shipped, concurrency = result.shipped.memory, plan.workload.load.concurrency
    if plan.engine.name == "ideal" or not shipped.fits or concurrency is None or shipped.max_concurrency is None:
        return None
    here, guaranteed = concurrency / max(1, plan.hardware.replicas.minimum), shipped.max_concurrency
    if here <= guaranteed:
        return None
    ledger = result.detail.ledger
    reserves = result.detail.plan.engine.admission == "reserve-maximum" or ledger.expected_concurrency is None
    expected = guaranteed if reserves else ledger.expected_concurrency
    return Held(here, guaranteed, expected)


def _of(held: float, declared: float) -> str:
    return f"{math.floor(held + 1e-9):,} of the {declared:,g}"


def _on_average(held: float, declared: float) -> str:
    return "all of them" if held >= declared else f"{math.floor(held + 1e-9):,}"
