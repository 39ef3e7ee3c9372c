"""Which ranks of a deployment run requests on their own, and which step in time with each other."""

from __future__ import annotations

from planner.domain.plan import Plan


def engines_of(plan: Plan) -> int:
    """Engine ranks that share the load: replicas x data-parallel ranks."""
    return max(1, plan.hardware.replicas.minimum) * plan.engine.data_parallel_size


def together_of(plan: Plan) -> int:
    """Data-parallel ranks that step together: those that share experts meet in every layer of them."""
    shares = any(item.experts for group in plan.model.groups for item in group.feed_forwards)
    return plan.engine.data_parallel_size if shares else 1


def steppers_of(plan: Plan) -> int:
    """Engines of one replica that step on their own: data-parallel ranks, those that step together counted once."""
    return plan.engine.data_parallel_size // together_of(plan)
