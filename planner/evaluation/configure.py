"""A plan with some of its levers pulled and its engine's defaults filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner import engines, levers
from planner.domain.levers import LeverUse
from planner.domain.plan import Plan


def configure(plan: Plan, uses: Sequence[LeverUse]) -> Plan:
    """`plan` with exactly `uses` pulled, in the planner's own order, and every engine key filled.

    Overlays (`change`) first: they are the plan that the other levers are applied to.
    """
    overlays = tuple(item.path for item in uses if item.use == "change")
    configured: Plan = plan.variants[overlays] if overlays else plan
    for item in uses:
        if item.use != "change":
            configured = levers.pulled(configured, item)
    module = engines.get(configured.engine.name)
    if configured.cache_format is None and hasattr(module, "cache_format"):
        configured = replace(configured, cache_format=module.cache_format(configured))
    return replace(configured, engine=module.with_defaults(configured))


def adopted(plan: Plan) -> tuple[LeverUse, ...]:
    return tuple(item for item in plan.levers if item.status == "adopt")


def shipped(plan: Plan) -> Plan:
    """The plan as it would be deployed."""
    return configure(plan, adopted(plan))
