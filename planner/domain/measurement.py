"""What benchmarks and start-up logs say, in SI units, whatever tool wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from planner.domain.calibration import MeasuredMemory, Subject
from planner.domain.workload import Load

LATENCIES = ("time_to_first_token", "inter_token_latency", "time_per_output_token", "request_latency", "prefill")
RATES = ("output_tokens_per_second", "requests_per_second")
"""Figures of a run: seconds, then per second. `prefill`: one prompt alone on an idle engine."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One figure of one run. statistic: of a latency (`mean p50 p90 p95 p99 max`), else "".

    value: SI. resolution: the step of the digits that were printed, SI; 0 where all were.
    """

    figure: str
    statistic: str
    value: float
    resolution: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.figure}.{self.statistic}" if self.statistic else self.figure


@dataclass(frozen=True, slots=True)
class Run:
    """One load that was put on the engine, and what was seen.

    where: in the file. prompt_tokens, output_tokens: means. subject: what this run states beyond its file.
    unusable: why nothing can be compared with it, "" where it can.
    """

    where: str
    load: Load
    prompt_tokens: float
    output_tokens: float
    observations: tuple[Observation, ...]
    subject: Subject = field(default_factory=Subject)
    unusable: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One file. tool: who wrote it, with its version where it says so. date: ISO, "" where it has none.

    source: who measured, how, in words.
    """

    name: str
    tool: str
    runs: tuple[Run, ...] = ()
    subject: Subject = field(default_factory=Subject)
    memory: MeasuredMemory | None = None
    date: str = ""
    source: str = ""


def observed(values: Iterable[tuple[str, str, float | None]], scale: float = 1.0) -> tuple[Observation, ...]:
    """(figure, statistic, value in 1/scale SI) of all that is there."""
    return tuple(
        Observation(figure, statistic, value * scale) for figure, statistic, value in values if value is not None
    )


def statistics(figure: str, found: Mapping[str, float | None], scale: float) -> tuple[Observation, ...]:
    """{statistic: value in 1/scale seconds} of one latency."""
    return observed(((figure, statistic, value) for statistic, value in found.items()), scale)
