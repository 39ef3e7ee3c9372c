"""The longest prompt and the longest context that the workload declares, by which levers see whether they act."""

from __future__ import annotations

from planner.domain.plan import Plan
from planner.domain.workload import RequestClass


def longest_prompt(plan: Plan) -> float | None:
    """Tokens of the longest prompt of any class, images and the last turn of a session included."""
    return max((length for item in plan.workload.classes if (length := _prompt(item)) is not None), default=None)


def longest_context(plan: Plan) -> float | None:
    """Cached tokens of the longest sequence of any class."""
    return max((length for item in plan.workload.classes if (length := _context(item)) is not None), default=None)


def _prompt(item: RequestClass) -> float | None:
    if item.prompt is None:
        return None
    growth = (item.session.turns - 1) * item.session.context_growth_tokens if item.session else 0.0
    return item.prompt.maximum + item.image_count * item.image_tokens + growth


def _context(item: RequestClass) -> float | None:
    if item.context_tokens is not None:
        return item.context_tokens
    prompt = _prompt(item)
    if prompt is None:
        return None
    return prompt + (item.output.maximum if item.output else 0.0)
