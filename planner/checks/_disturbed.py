"""What the findings about missing replicas say: the objectives that are missed or at risk, with their figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner.checks.objective_at_risk import sentence
from planner.domain.evaluation import Disturbed, ObjectiveOutcome, PlanResult

WORST = ("missed", "at-risk")


def disturbed(result: PlanResult, what: str) -> Iterator[tuple[Disturbed, str, list[ObjectiveOutcome]]]:
    """(figures, worst outcome, the objectives of that outcome) of each disturbance in which an objective does not hold.

    An objective that does not hold with every replica either is a finding of its own, and is left out.
    """
    held = {item.path: item.outcome for item in result.shipped.objectives}
    for found in result.disturbed:
        if found.what != what:
            continue
        for worst in WORST:
            worse = [item for item in found.objectives if item.outcome == worst and held.get(item.path) != worst]
            if worse:
                yield found, worst, worse
                break


def sentences(found: Disturbed, items: list[ObjectiveOutcome], result: PlanResult, worst: str) -> str:
    """What does not hold, the first three whole."""
    word = "is missed" if worst == "missed" else "is at risk"
    said = [
        f"{item.objective} {word}: nothing is left to serve it"
        if item.estimate is None and not found.serving
        else sentence(item, result, word)
        for item in items[:3]
    ]
    more = f"; and {len(items) - 3} more" if len(items) > 3 else ""
    return "; ".join(said) + more


def values(found: Disturbed, items: list[ObjectiveOutcome]) -> dict[str, Any]:
    return {
        "serving": found.serving,
        "of": found.of,
        "pool": found.pool,
        "lasts_s": found.lasts_s,
        "recovers_s": found.recovers_s,
        "objectives": {item.objective: {"limit": item.limit, "estimate": item.estimate} for item in items},
    }
