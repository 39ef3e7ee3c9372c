"""What a plan comes to: the figures of the result contract (schema/v1/result.schema.json), SI units.

None means that the spec does not allow the figure to be computed; a finding says what to declare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.domain.cost import Cost
from planner.domain.levers import LeverUse


@dataclass(frozen=True, slots=True)
class Memory:
    """Per accelerator: the fullest rank of the tightest pool.

    cache_basis: what kv_cache_bytes, state_bytes and free_bytes stand on. "guaranteed": every sequence of the load at
    its promised length. "expected": mean concurrency at mean length. None where the load says neither.
    """

    capacity_bytes: float
    usable_bytes: float
    weights_bytes: float
    kv_cache_bytes: float | None
    state_bytes: float | None
    activation_bytes: float
    cuda_graph_bytes: float
    runtime_bytes: float
    headroom_bytes: float
    free_bytes: float | None
    fits: bool
    weights_total_bytes: float
    kv_pool_bytes: float
    kv_capacity_tokens: float | None
    max_concurrency: float | None
    cache_basis: str | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """Where the time of one step goes, seconds. `bound` is the largest part."""

    bound: str
    memory_s: float
    compute_s: float
    communication_s: float
    overhead_s: float
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Percentiles:
    """One latency, seconds."""

    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None

    def at(self, statistic: str) -> float | None:
        value: float | None = getattr(self, statistic)
        return value


@dataclass(frozen=True, slots=True)
class Latency:
    time_to_first_token_s: Percentiles = field(default_factory=Percentiles)
    inter_token_latency_s: Percentiles = field(default_factory=Percentiles)
    time_per_output_token_s: Percentiles = field(default_factory=Percentiles)
    request_latency_s: Percentiles = field(default_factory=Percentiles)
    session_latency_s: Percentiles = field(default_factory=Percentiles)
    completion_s: float | None = None
    decode_step_s: float | None = None
    prefill_s: float | None = None
    decode: Split | None = None
    prefill: Split | None = None


@dataclass(frozen=True, slots=True)
class Throughput:
    """The whole deployment. goodput_requests_per_s: those that keep every latency limit; where it was simulated."""

    output_tokens_per_s: float | None = None
    total_tokens_per_s: float | None = None
    requests_per_s: float | None = None
    output_tokens_per_s_per_user: float | None = None
    output_tokens_per_s_per_accelerator: float | None = None
    max_requests_per_s: float | None = None
    rejected_fraction: float | None = None
    goodput_requests_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class ObjectiveOutcome:
    """`outcome`: met, at-risk, missed or unknown, judged by the band (low, high)."""

    objective: str
    request_class: str | None
    limit: float
    estimate: float | None
    low: float | None
    high: float | None
    outcome: str
    bound: str = "max"
    path: str = ""


@dataclass(frozen=True, slots=True)
class Bands:
    """Factors on an estimate: what was measured lies between low and high of it.

    latency: of steps and the time between tokens. prompt: of a prefill alone. first_token: of the time to first
    token, its wait included. request: of whole requests and sessions.
    cost: of a token or a request; hourly: of an hour; power: of the mean draw; energy: of a token or a request.
    word: where the factors come from.
    """

    memory: tuple[float, float] = (1.0, 1.0)
    latency: tuple[float, float] = (1.0, 1.0)
    prompt: tuple[float, float] = (1.0, 1.0)
    first_token: tuple[float, float] = (1.0, 1.0)
    request: tuple[float, float] = (1.0, 1.0)
    throughput: tuple[float, float] = (1.0, 1.0)
    word: str = "prior"
    cost: tuple[float, float] = (1.0, 1.0)
    hourly: tuple[float, float] = (1.0, 1.0)
    power: tuple[float, float] = (1.0, 1.0)
    energy: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """classes, pools: only where there are several."""

    memory: Memory
    latency: Latency
    throughput: Throughput
    cost: Cost
    objectives: tuple[ObjectiveOutcome, ...]
    bands: Bands
    classes: Mapping[str, Any] = field(default_factory=dict)
    pools: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Disturbed:
    """Figures while replicas are missing.

    what: "replicas-down", "rolling-update" or "rise-to-peak". serving: replicas that serve, at fewest; of: replicas
    that should. pool: of which, where prompts and answers have pools of their own. lasts_s: how long it takes.
    recovers_s: from its beginning until objectives hold again, infinite where they do not within the run; None where it
    is not simulated.
    """

    what: str
    serving: int
    of: int
    latency: Latency
    throughput: Throughput
    objectives: tuple[ObjectiveOutcome, ...]
    lasts_s: float | None = None
    recovers_s: float | None = None
    pool: str | None = None


@dataclass(frozen=True, slots=True)
class Obligation:
    """What a lever obliges to evaluate, and whether there is evidence: missing, stale or covered."""

    evaluate: str
    evidence: str = "missing"


@dataclass(frozen=True, slots=True)
class LeverStep:
    """One step of the ladder. effect: {figure: relative change}, None where nothing is evaluated.

    compared: (before, after) that the effect is read off, found in the same way: both in closed form or, of levers
    that only the simulation sees, both simulated. after: what the stack comes to with it.
    """

    lever: LeverUse
    effect: Mapping[str, float] | None
    after: Evaluation | None
    obligations: tuple[Obligation, ...] = ()
    reduces: tuple[str, ...] = ()
    note: str = ""
    compared: tuple[Evaluation, Evaluation] | None = None


@dataclass(frozen=True, slots=True)
class RunsOut:
    """When a deployment whose load grows no longer holds.

    month: `2027-05`, None where that is not known or never comes. reason: what gives way, or why there is no month.
    factor: largest multiple of the declared load that holds, None where that is not known.
    """

    month: str | None
    reason: str = ""
    factor: float | None = None


@dataclass(frozen=True, slots=True)
class PlanResult:
    """Everything that was evaluated of one plan.

    largest_concurrency, largest_context: that fit as shipped; baseline_*: with every lever off. disturbed: what ships
    while replicas are missing. runs_out: under the declared growth, None where it was not looked for.
    """

    baseline: Evaluation
    shipped: Evaluation
    steps: tuple[LeverStep, ...] = ()
    largest_concurrency: float | None = None
    largest_context: float | None = None
    detail: Any = None  # planner.evaluation.Detail of the shipped plan
    notes: tuple[str, ...] = ()
    baseline_concurrency: float | None = None
    baseline_context: float | None = None
    disturbed: tuple[Disturbed, ...] = ()
    runs_out: RunsOut | None = None
