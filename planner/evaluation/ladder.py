"""The ladder: each lever on top of those before it, in the planner's own order, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner import levers
from planner.domain.evaluation import Evaluation, LeverStep, Obligation
from planner.domain.levers import LeverUse
from planner.domain.plan import Plan
from planner.evaluation.configure import adopted, configure

UNCHANGED = 1e-9

FIGURES = (
    ("weights_bytes", "memory.weights_bytes"),
    ("kv_cache_bytes", "memory.kv_cache_bytes"),
    ("activation_bytes", "memory.activation_bytes"),
    ("kv_capacity_tokens", "memory.kv_capacity_tokens"),
    ("max_concurrency", "memory.max_concurrency"),
    ("decode_step_s", "latency.decode_step_s"),
    ("prefill_s", "latency.prefill_s"),
    ("time_to_first_token_s", "latency.time_to_first_token_s.mean"),
    ("inter_token_latency_s", "latency.inter_token_latency_s.mean"),
    ("inter_token_latency_p99_s", "latency.inter_token_latency_s.p99"),
    ("output_tokens_per_s", "throughput.output_tokens_per_s"),
    ("max_requests_per_s", "throughput.max_requests_per_s"),
    ("usd_per_million_output_tokens", "cost.usd_per_million_output_tokens"),
    ("usd_per_hour", "cost.usd_per_hour"),
    ("joules_per_output_token", "cost.joules_per_output_token"),
)


def climb(plan: Plan, baseline: Evaluation, shipped: Evaluation) -> tuple[LeverStep, ...]:
    """Adopted levers cumulatively; a considered one on top of everything shipped; a rejected one not at all."""
    return tuple(_steps(plan, baseline, shipped))


def _steps(plan: Plan, baseline: Evaluation, shipped: Evaluation) -> Iterator[LeverStep]:
    from planner.evaluation import evaluate

    stacked: list[LeverUse] = []
    before, below = baseline, configure(plan, ())
    everything = adopted(plan)
    for use in plan.levers:
        if use.status == "reject":
            yield _step(use, None, None, "")
            continue
        if use.status == "adopt":
            stacked.append(use)
            here = configure(plan, stacked)
            last = len(stacked) == len(everything)
            after = before if here == below else shipped if last else evaluate(here)
            yield _step(use, before, after, levers.get(use.use).PENDING)
            before, below = after, here
        else:
            tried = tuple(item for item in plan.levers if item in everything or item is use)
            yield _step(use, shipped, evaluate(configure(plan, tried)), levers.get(use.use).PENDING)


def _step(use: LeverUse, before: Evaluation | None, after: Evaluation | None, pending: str) -> LeverStep:
    module = levers.get(use.use)
    evaluate = module.evaluate(use.lever_class) if use.use == "change" else module.EVALUATE
    obligations = tuple(Obligation(text) for _, text in evaluate)
    effect = None if pending or before is None or after is None else effect_of(before, after)
    return LeverStep(use, effect, after, obligations, module.REDUCES, pending)


def effect_of(before: Evaluation, after: Evaluation) -> Mapping[str, float]:
    """Relative change of each figure that moved: after / before - 1. From nothing to something is left out."""
    moved: dict[str, float] = {}
    for name, path in FIGURES:
        old, new = figure(before, path), figure(after, path)
        if old and new is not None and abs(new / old - 1) > UNCHANGED:
            moved[name] = new / old - 1
    return moved


def figure(evaluation: Evaluation, path: str) -> float | None:
    """The figure at a dotted path of an Evaluation."""
    found: object = evaluation
    for step in path.split("."):
        found = getattr(found, step)
    return found if isinstance(found, int | float) else None
