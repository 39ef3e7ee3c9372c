"""Filling the keys that a spec leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.domain.engine import EngineSettings


def fill(settings: EngineSettings, **defaults: Any) -> EngineSettings:
    """`settings` with every key of `defaults` that it does not declare, marked "default" in `origins`."""
    missing = {key: value for key, value in defaults.items() if getattr(settings, key) is None and value is not None}
    origins = {**settings.origins, **dict.fromkeys(missing, "default")}
    return replace(settings, origins=origins, **missing)
