"""What a calibration takes for granted: `planner/catalogue/calibration/prior.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from planner import catalogue


@dataclass(frozen=True, slots=True)
class Prior:
    """scalars: one standard deviation of the logarithm of each. usual: what an estimate of a figure is usually off.

    bands: half a band's width at least, by calibrated or family, then latency or throughput. All logarithms.
    """

    scalars: Mapping[str, float]
    usual: Mapping[str, float]
    bands: Mapping[str, Mapping[str, float]]


@cache
def prior() -> Prior:
    found = catalogue.entry("calibration", "prior")
    assert found is not None
    return Prior(found["scalars"], found["usual"], found["bands"])
