"""A plan: a spec with every reference resolved and every quantity in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.domain.accelerator import Hardware
from planner.domain.engine import EngineSettings
from planner.domain.levers import LeverUse, Techniques
from planner.domain.model import Model
from planner.domain.workload import Objectives, Workload


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a figure came from: one word, and the source where there is one to name."""

    word: str  # declared | catalogue | default | formula | calibrated | measured
    source: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """model: as its authors publish it; `shipped_model` is after the levers that have been applied.

    techniques: what is switched on. origins: {figure path: Origin}. catalogue: {entry id: digest}.
    """

    name: str
    model: Model
    hardware: Hardware
    engine: EngineSettings
    workload: Workload
    objectives: Objectives
    levers: tuple[LeverUse, ...] = ()
    techniques: Techniques = field(default_factory=Techniques)
    cache_format: str | None = None
    expect: str | None = None
    description: str = ""
    owner: str = ""
    calibration: Any = None
    measurements: tuple[Any, ...] = ()
    assumptions: tuple[str, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    catalogue: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
