"""What measurements say of one deployment: scalars on the catalogue's figures, and the subject that they hold for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

SCALARS: Mapping[str, tuple[str, ...]] = {
    "bandwidth": ("bandwidth",),
    "arithmetic": ("arithmetic", "attention"),
    "layer": ("kernel_s", "launch_s"),
    "step": ("host_s", "sequence_s", "first_token_s"),
    "collective": ("all_reduce",),
}
"""Each scalar, and the figures of the catalogue's efficiencies that it multiplies."""

Size = int | tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Subject:
    """What was measured. None, or "" for a name: not stated, so any. accelerator: its id in the catalogue.

    weights: the format that holds most parameters, as shipped. cache: of the KV cache, as shipped. speculation:
    "none", or the method and the tokens that it proposes. Sizes: one, or the several that were measured.
    """

    model: str = ""
    revision: str = ""
    weights: str = ""
    cache: str = ""
    engine: str = ""
    version: str = ""
    accelerator: str = ""
    tensor_parallel_size: Size = None
    pipeline_parallel_size: Size = None
    data_parallel_size: Size = None
    expert_parallel_size: Size = None
    speculation: str = ""

    def differences(self, other: Subject) -> Iterator[tuple[str, str, str]]:
        """(what, of this subject, of the other) wherever this one states something that the other is not."""
        for item in fields(self):
            own, found = getattr(self, item.name), getattr(other, item.name)
            if own not in (None, "") and not _same(item.name, own, found):
                yield item.name.replace("_", " "), _text(own), _text(found)


def _same(name: str, own: Any, found: Any) -> bool:
    """Of versions the shorter one may stand for the longer; of sizes each may be several, all of which must be own."""
    if name == "version":
        return _same_version(own, found)
    if isinstance(own, tuple) or isinstance(found, tuple):
        held, wanted = ((item if isinstance(item, tuple) else (item,)) for item in (own, found))
        return set(wanted) <= set(held)
    return bool(own == found)


def _text(value: Any) -> str:
    if value in (None, ""):
        return "not stated"
    return " or ".join(str(item) for item in value) if isinstance(value, tuple) else str(value)


def _same_version(own: str, other: str) -> bool:
    """`0.11` stands for every release of it: one version begins as the other does."""
    parts = list(zip(own.lstrip("v").split("."), other.lstrip("v").split("."), strict=False))
    return bool(own and other) and all(left == right for left, right in parts)


@dataclass(frozen=True, slots=True)
class CalibrationBands:
    """Factors on an estimate, low and high. latency: of steps and gaps between tokens. prompt: of a prefill and of the
    time to first token; None where none was measured."""

    latency: tuple[float, float]
    throughput: tuple[float, float]
    prompt: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class MeasuredMemory:
    """What an engine's start-up log said of one accelerator, bytes and tokens. None: it did not.

    pool_bytes and pool_tokens hold for these limits alone: those that the engine was started with. pool_tokens: of
    one engine rank. fraction: the share of memory that it was started with.
    """

    weights_bytes: float | None = None
    pool_bytes: float | None = None
    pool_tokens: float | None = None
    graph_bytes: float | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A Calibration document, bound. multipliers: {scalar: factor}. file: as the spec names it.

    calibrated, family: bands of what was measured, and of its neighbours (another precision or parallel size of
    the same model, engine and accelerator, as the steps of the ladder are). spreads: one standard deviation of the
    logarithm of each multiplier. points: measured figures that it rests on. stale: what of the subject the shipped
    plan is not, as (what, subject, plan); where there is any, the calibration is not used.
    """

    file: str
    date: str
    subject: Subject
    multipliers: Mapping[str, float]
    calibrated: CalibrationBands
    family: CalibrationBands
    memory: MeasuredMemory = field(default_factory=MeasuredMemory)
    sha256: str = ""
    spreads: Mapping[str, float] = field(default_factory=dict)
    points: int = 0
    stale: tuple[tuple[str, str, str], ...] = ()

    def figures(self) -> dict[str, float]:
        """{figure of the efficiencies: factor}."""
        return {name: factor for scalar, factor in self.multipliers.items() for name in SCALARS[scalar]}
