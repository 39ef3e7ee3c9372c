"""Measured power constants of an accelerator, by its generation: `planner/catalogue/power/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from planner.domain.accelerator import Accelerator
from planner.evaluation.efficiencies import memory_family
from planner.physics.energy import PowerShares
from planner.resources import PACKAGE

FOLDER = PACKAGE / "catalogue" / "power"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class PowerFigures:
    """band: (low, high) factors on a power. file: the generation's, or `default`. own: figures that it has itself."""

    shares: PowerShares
    band: tuple[float, float]
    file: str
    own: frozenset[str]


def power_figures(card: Accelerator) -> PowerFigures:
    """The generation's own figures, each that it lacks by the default for the memory family."""
    return _figures(card.generation if card.generation in _names() else "", memory_family(card))


@cache
def _figures(generation: str, family: str) -> PowerFigures:
    merged = {**_read("default"), **(_read(generation) if generation else {})}
    found = {name: _of_family(merged[name]["value"], family) for name in ("idle", "active", "memory", "arithmetic")}
    band = merged["band"]["value"]
    ends = float(band["low"]), float(band["high"])
    name = generation or "default"
    return PowerFigures(PowerShares(**found), ends, name, frozenset(_read(name)))


def _of_family(value: Any, family: str) -> float:
    return float(value[family] if isinstance(value, Mapping) else value)


@cache
def _read(name: str) -> Mapping[str, Any]:
    content = yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=_Loader)
    figures: Mapping[str, Any] = content["figures"]
    return figures


@cache
def _names() -> frozenset[str]:
    """Names come from specs: only those of files that are there are opened."""
    return frozenset(path.stem for path in FOLDER.glob("*.yaml"))
