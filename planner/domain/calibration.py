"""What measurements say of one deployment: scalars on the catalogue's figures, and the subject that they hold for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

SCALARS: Mapping[str, tuple[str, ...]] = {
    "bandwidth": ("bandwidth",),
    "arithmetic": ("arithmetic", "attention"),
    "layer": ("kernel_s", "launch_s"),
    "step": ("host_s", "sequence_s", "first_token_s"),
    "collective": ("all_reduce",),
}
"""Each scalar, and the figures of the catalogue's efficiencies that it multiplies."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What was measured. None, or "" for a name: not stated, so any. accelerator: its id in the catalogue.

    weights: the format that holds most parameters, as shipped. cache: of the KV cache, as shipped.
    """

    model: str = ""
    revision: str = ""
    weights: str = ""
    cache: str = ""
    engine: str = ""
    version: str = ""
    accelerator: str = ""
    tensor_parallel_size: int | None = None
    pipeline_parallel_size: int | None = None
    data_parallel_size: int | None = None
    expert_parallel_size: int | None = None

    def differences(self, other: Subject) -> Iterator[tuple[str, str, str]]:
        """(what, of this subject, of the other) wherever this one states something that the other is not."""
        for item in fields(self):
            own, found = getattr(self, item.name), getattr(other, item.name)
            same = _same_version(own, found) if item.name == "version" else own == found
            if own not in (None, "") and not same:
                yield item.name.replace("_", " "), str(own), "not stated" if found in (None, "") else str(found)


def _same_version(own: str, other: str) -> bool:
    """`0.11` stands for every release of it: one version begins as the other does."""
    parts = list(zip(own.lstrip("v").split("."), other.lstrip("v").split("."), strict=False))
    return bool(own and other) and all(left == right for left, right in parts)


@dataclass(frozen=True, slots=True)
class CalibrationBands:
    """Factors on an estimate, low and high: latency, throughput."""

    latency: tuple[float, float]
    throughput: tuple[float, float]


@dataclass(frozen=True, slots=True)
class MeasuredMemory:
    """What an engine's start-up log said of one accelerator, bytes and tokens. None: it did not.

    pool_bytes and pool_tokens hold for these limits alone. pool_tokens: of one engine rank.
    """

    weights_bytes: float | None = None
    pool_bytes: float | None = None
    pool_tokens: float | None = None
    graph_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A Calibration document, bound. multipliers: {scalar: factor}. file: as the spec names it.

    calibrated, family: bands of what was measured, and of its neighbours (another precision or parallel size of
    the same model, engine and accelerator, as the steps of the ladder are). stale: what of the subject the
    shipped plan is not, as (what, subject, plan); where there is any, the calibration is not used.
    """

    file: str
    date: str
    subject: Subject
    multipliers: Mapping[str, float]
    calibrated: CalibrationBands
    family: CalibrationBands
    memory: MeasuredMemory = field(default_factory=MeasuredMemory)
    sha256: str = ""
    stale: tuple[tuple[str, str, str], ...] = ()

    def figures(self) -> dict[str, float]:
        """{figure of the efficiencies: factor}."""
        return {name: factor for scalar, factor in self.multipliers.items() for name in SCALARS[scalar]}
