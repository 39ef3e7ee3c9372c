"""A plan: a spec with every reference resolved and every quantity in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.domain.accelerator import Hardware
from planner.domain.calibration import Calibration
from planner.domain.engine import EngineSettings
from planner.domain.levers import LeverUse, Techniques
from planner.domain.measurement import Measurement
from planner.domain.model import Model
from planner.domain.pricing import ApiPrice
from planner.domain.workload import Objectives, Workload


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a figure came from: one word, and the source where there is one to name."""

    word: str  # declared | catalogue | default | formula | calibrated | measured
    source: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """As bound: every lever off. `planner.evaluation.configure` applies levers to it.

    model: as published, then as the levers applied so far have made it. cache_format: precision of the cache,
    None for the model's own 16 bits. date: the day for which the plan speaks, ISO, "" where none is declared.
    techniques: what is switched on. variants: the plan under `change`
    overlays, by the pointers of the overlays. revision: of the model, as the spec says. origins: {figure path:
    Origin}. catalogue: {entry id: digest}.
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
    revision: str = ""
    calibration: Calibration | None = None
    measurements: tuple[Measurement, ...] = ()
    variants: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    catalogue: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
    date: str = ""
    api_price: ApiPrice | None = None
