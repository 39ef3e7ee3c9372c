"""The class of an overlay on the spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.formats import get_cache
from planner.domain.levers import LEVER_CLASSES, LeverClass

SECTION_CLASSES: dict[str, LeverClass] = {
    "engine": "output-preserving",
    "model": "output-changing",
    "workload": "requirement-changing",
    "objectives": "requirement-changing",
    "hardware": "requirement-changing",
}


def overlay_class(sections: Mapping[str, Any]) -> LeverClass:
    """The class of an overlay: that of the section that it sets, the furthest reaching of several.

    A cache precision below 16 bits changes the output, although it is a key of the engine.
    """
    classes = [SECTION_CLASSES[section] for section in sections if section in SECTION_CLASSES]
    engine = sections.get("engine")
    if isinstance(engine, Mapping) and _quantised(engine.get("kv_cache_dtype")):
        classes.append("output-changing")
    return max(classes, key=LEVER_CLASSES.index, default="output-preserving")


def _quantised(cache_dtype: Any) -> bool:
    found = get_cache(cache_dtype) if isinstance(cache_dtype, str) else None
    return found is not None and found.bits < 16
