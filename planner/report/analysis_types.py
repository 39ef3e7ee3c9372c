"""What is computed for the report only: where the regime turns, what flips the verdict, where figures come from.

`planner.analysis` fills these from closed forms; `planner.report.build` prints them. SI units throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.format import Dimension


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure in SI units and what it measures. None: it could not be computed."""

    value: float | None
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """Where one limit gives way to another.

    question: "context at which cache reads exceed weight reads". at: where it turns; value None where it
    never does, and `reason` says why. present: the same input as the spec declares it. here: what holds at
    present, in a few words ("weight reads dominate"). formula: how `at` was computed. limit: the most that the
    engine admits of it, by the key limit_key; None where it admits any.
    """

    question: str
    at: Quantity
    present: Quantity
    here: str = ""
    formula: str = ""
    reason: str = ""
    limit: float | None = None
    limit_key: str = ""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One input, and the value of it at which an outcome flips.

    change: (flips_at - present) / present. objective: name of the objective whose outcome flips, "memory"
    where it is whether the plan fits. outcome: what it flips to ("missed", "met", "does not fit").
    path: JSON pointer of the input. reason: why it never flips, where flips_at has no value.
    """

    input: str
    present: Quantity
    flips_at: Quantity
    change: float | None
    objective: str
    outcome: str = ""
    path: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Flip:
    """What may flip ("memory" or an objective), its outcome now, and the smallest change that flips it.

    nearest None: no input flips it, changed alone within the range that is tried.
    """

    name: str
    now: str
    nearest: Sensitivity | None = None


@dataclass(frozen=True, slots=True)
class DecidingMeasurement:
    """The one figure whose band decides most objectives.

    decides: the names of the objectives that its band leaves open. open_objectives: how many are open in all.
    estimate, low, high: the figure's band now; `word` says where the band comes from. measure: how to measure it.
    """

    figure: str
    decides: tuple[str, ...]
    open_objectives: int
    estimate: Quantity
    low: float | None = None
    high: float | None = None
    word: str = "prior"
    measure: str = ""


@dataclass(frozen=True, slots=True)
class ProvenanceRow:
    """One figure and where it comes from.

    word: declared, catalogue, default, formula, calibrated or measured. value: a quantity, or text for what
    is not a number. formula and inputs ((name, text), ...): how a computed figure came about.
    """

    figure: str
    value: Quantity | str
    word: str
    source: str = ""
    formula: str = ""
    inputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Assumption:
    """What the figures take for granted, and where that comes from."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class VerificationStep:
    """What to do on the real system, the command where there is one, and what should come out."""

    what: str
    command: str = ""
    expect: str = ""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One configuration's memory per accelerator. rest: activations, graphs, runtime and everything else.

    capacity_bytes: what may be used (the capacity line). cache_bytes None: the spec does not say enough.
    """

    configuration: str
    weights_bytes: float
    cache_bytes: float | None
    rest_bytes: float
    capacity_bytes: float


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """What was simulated at one rate. first_token, gap: {statistic: seconds}, empty where the queue grows.

    arrivals_per_s: requests (sessions) that come. served_per_s, kept_per_s: requests served, and those of them that
    keep every latency limit. rejected: share of those that come. queue: mean requests that wait.
    """

    arrivals_per_s: float
    first_token: Mapping[str, float]
    gap: Mapping[str, float]
    served_per_s: float
    kept_per_s: float
    rejected: float
    queue: float


@dataclass(frozen=True, slots=True)
class LoadInterval:
    """What happened between two moments of the run at the declared load. queue, running: means over it."""

    begin_s: float
    end_s: float
    queue: float
    running: float
    rejected: int


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """The deployment under arrivals: at several rates, and over time at the declared one.

    arrivals_per_s: that are declared, a peak included. capacity_per_s: the rate from which the queue grows, None where
    it is not known. limited: the queue has a limit, and what is too much is turned away. holds_per_s: the largest rate
    at which every objective holds, None where none was searched; breaks: what is missed above it. gap_metric:
    inter_token_latency or time_per_output_token. first_tokens: equally likely TTFT, empty where the queue grows.
    requests: of the run at the declared load. noun: of what arrives.
    """

    points: tuple[LoadPoint, ...]
    series: tuple[LoadInterval, ...]
    arrivals_per_s: float
    capacity_per_s: float | None
    holds_per_s: float | None
    breaks: tuple[str, ...]
    gap_metric: str
    first_tokens: tuple[float, ...]
    requests: int
    overloaded: bool
    limited: bool = False
    noun: str = "requests"


@dataclass(frozen=True, slots=True)
class Analysis:
    """deciding None: no objective is open; `deciding_reason` may say why. fraction: what the engine's share holds.

    cost: inputs and formulas of cost and energy.
    """

    turning_points: tuple[TurningPoint, ...] = ()
    sensitivities: tuple[Sensitivity, ...] = ()
    flips: tuple[Flip, ...] = ()
    deciding: DecidingMeasurement | None = None
    deciding_reason: str = ""
    provenance: tuple[ProvenanceRow, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    verification: tuple[VerificationStep, ...] = ()
    memory: tuple[MemoryRow, ...] = field(default=())
    cost: tuple[ProvenanceRow, ...] = ()
    fraction: str = ""
    under_load: UnderLoad | None = None
