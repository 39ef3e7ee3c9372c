"""A plan with some of its levers pulled and its engine's defaults filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner import engines, levers
from planner.domain.levers import LeverUse
from planner.domain.plan import Plan
from planner.domain.remembering import by_objects

SPLIT = "disaggregated-prefill"


def configure(plan: Plan, uses: Sequence[LeverUse]) -> Plan:
    """`plan` with exactly `uses` pulled, in the planner's own order, and every engine key filled.

    Overlays (`change`) first: they are the plan that the other levers are applied to. Where prompts and answers have
    pools of their own, the plan is that of the pool that answers, and `techniques.disaggregated` holds the other.
    """
    return _configured(plan, tuple(uses))


@by_objects
def _configured(plan: Plan, uses: tuple[LeverUse, ...]) -> Plan:
    overlays = tuple(item.path for item in uses if item.use == "change")
    pulled = [item for item in uses if item.use != "change"]
    split = next((item for item in pulled if item.use == SPLIT), None)
    if split is not None:
        prefill, decode = (plan.variants.get((*overlays, f"{split.path}/{name}")) for name in ("prefill", "decode"))
        if prefill is not None and decode is not None and not levers.get(SPLIT).applies(plan, split):
            others = [item for item in pulled if item is not split]
            record = {"prefill": _filled(prefill, others), "links_bytes_per_s": split.parameters["links_bytes_per_s"]}
            found = _filled(decode, others)
            return replace(found, techniques=replace(found.techniques, disaggregated=record))
    return _filled(plan.variants[overlays] if overlays else plan, [item for item in pulled if item is not split])


def _filled(configured: Plan, uses: Sequence[LeverUse]) -> Plan:
    for item in uses:
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
