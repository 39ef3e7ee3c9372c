"""Measured figures against the plan: each with the plan that predicts it, or why nothing does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

from planner.calibration.prior import prior
from planner.domain.accelerator import Replicas
from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run
from planner.domain.plan import Plan
from planner.domain.workload import Length, Load, RequestClass, Workload
from planner.evaluation.calibrated import subject_of
from planner.evaluation.configure import shipped

PER_TOKEN = ("inter_token_latency", "time_per_output_token")
CENTRES = ("mean", "p50")
SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "expert_parallel_size")


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of one run. plan: configured, under the run's load. rejected: why it is not fitted, "" where it is.

    usual: what an estimate of it is usually off, logarithm; the step of its digits included.
    """

    source: str
    run: Run
    observation: Observation
    plan: Plan | None
    rejected: str = ""

    @property
    def usual(self) -> float:
        own = prior().usual.get(self.observation.figure, 0.25)
        rounding = self.observation.resolution / self.observation.value / math.sqrt(12.0)
        return math.hypot(own, rounding)


def points_of(plan: Plan, measurements: Sequence[Measurement]) -> tuple[Point, ...]:
    """Every figure of every run. plan: bound, levers not yet applied."""
    found: list[Point] = []
    for measured in measurements:
        for run in measured.runs:
            found += _of_run(plan, measured, run)
    return tuple(found)


def stated(measured: Measurement, run: Run) -> Subject:
    """What the run and its file state of the subject."""
    own = {item.name: getattr(run.subject, item.name) for item in fields(Subject)}
    return replace(measured.subject, **{name: value for name, value in own.items() if value not in (None, "")})


def _of_run(plan: Plan, measured: Measurement, run: Run) -> Iterator[Point]:
    source = f"{measured.name}, {run.where}"
    under = loaded(plan, run, stated(measured, run))
    why = run.unusable or _apart(under, stated(measured, run)) or _too_long(under, run)
    chosen = _chosen(run)
    for item in run.observations:
        reason = why or chosen.get(item.name, "")
        yield Point(source, run, item, None if why else under, reason)


def loaded(plan: Plan, run: Run, subject: Subject) -> Plan:
    """The plan as it ships, under the load and the lengths of a run: one replica, and the run's parallel sizes."""
    sizes = {name: int(getattr(subject, name)) for name in SIZES if isinstance(getattr(subject, name), int)}
    engine = replace(plan.engine, **sizes)  # type: ignore[arg-type]
    cards = plan.hardware.cards
    if sizes and engine.world_size != plan.engine.world_size:
        cards = (plan.hardware.accelerator,) * engine.world_size
    asked = RequestClass("measured", prompt=_fixed(max(run.prompt_tokens, 1.0)), output=_fixed(run.output_tokens))
    workload = Workload(run.load, (asked,))
    hardware = replace(plan.hardware, cards=cards, replicas=Replicas())
    return shipped(replace(plan, engine=engine, hardware=hardware, workload=workload, calibration=None, variants={}))


def _fixed(tokens: float) -> Length:
    return Length(dict.fromkeys(("mean", "p50", "p90", "p95", "p99", "max"), tokens), ("mean",))


def _apart(plan: Plan, subject: Subject) -> str:
    """What the measurement states that the plan is not."""
    apart = list(subject.differences(subject_of(plan)))
    return "; ".join(f"{what}: measured {was}, planned {now}" for what, was, now in apart)


def _too_long(plan: Plan, run: Run) -> str:
    most = plan.engine.max_model_len
    tokens = run.prompt_tokens + run.output_tokens
    return f"{tokens:,.0f} tokens a request, max_model_len is {most:,}" if most and tokens > most * 1.001 else ""


def _chosen(run: Run) -> dict[str, str]:
    """{figure: why it is not fitted}: one figure for the gaps, one for the first token; tails are shown alone."""
    names = {item.name for item in run.observations}
    reasons: dict[str, str] = {}
    gaps = next((f"{figure}.{at}" for at in CENTRES for figure in PER_TOKEN if f"{figure}.{at}" in names), "")
    first = next((f"time_to_first_token.{at}" for at in CENTRES if f"time_to_first_token.{at}" in names), "")
    whole = next((f"request_latency.{at}" for at in CENTRES if f"request_latency.{at}" in names), "")
    fitted = (
        {gaps, first} if gaps else {whole} if whole and run.load.kind != "offline" else {"output_tokens_per_second"}
    )
    fitted |= {"prefill.mean"}
    if run.load.kind == "offline" or not (gaps or whole):
        fitted |= {"output_tokens_per_second"}
    for item in run.observations:
        if item.name not in fitted:
            reasons[item.name] = _why_not(item, run.load)
    return reasons


def _why_not(item: Observation, load: Load) -> str:
    if item.statistic not in ("", *CENTRES):
        return "a tail: shown, not fitted"
    if load.kind == "rate" and not item.statistic:
        return "an open loop is served as it arrives: the rate says nothing"
    return "follows from the figures that are fitted"
