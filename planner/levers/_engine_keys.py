"""Setting the engine keys that a lever owns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.domain.engine import EngineSettings
from planner.domain.plan import Plan


def set_by_lever(settings: EngineSettings, **keys: Any) -> EngineSettings:
    """The settings with `keys` set, their origin marked `lever`."""
    return replace(settings, **keys, origins={**settings.origins, **dict.fromkeys(keys, "lever")})


def switch_on(plan: Plan, technique: str, **keys: Any) -> Plan:
    """The plan with one technique on and the engine keys that say so."""
    switched: dict[str, Any] = {technique: True}
    techniques = replace(plan.techniques, **switched)
    return replace(plan, techniques=techniques, engine=set_by_lever(plan.engine, **keys) if keys else plan.engine)
