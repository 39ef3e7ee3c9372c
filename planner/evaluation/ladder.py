"""The ladder: each lever on top of those before it, in the planner's own order, and what it changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from planner import levers
from planner.domain.evaluation import Evaluation, LeverStep, Obligation
from planner.domain.levers import LeverUse
from planner.domain.plan import Plan
from planner.evaluation.configure import adopted, configure

UNCHANGED = 1e-9
RECORDED = 2_000
"""Requests of a trace that levers are compared on."""

FIGURES = (
    ("weights_bytes", "memory.weights_bytes"),
    ("kv_cache_bytes", "memory.kv_cache_bytes"),
    ("activation_bytes", "memory.activation_bytes"),
    ("kv_capacity_tokens", "memory.kv_capacity_tokens"),
    ("max_concurrency", "memory.max_concurrency"),
    ("decode_step_s", "latency.decode_step_s"),
    ("prefill_s", "latency.prefill_s"),
    ("time_to_first_token_s", "latency.time_to_first_token_s.mean"),
    ("time_to_first_token_p99_s", "latency.time_to_first_token_s.p99"),
    ("inter_token_latency_s", "latency.inter_token_latency_s.mean"),
    ("inter_token_latency_p99_s", "latency.inter_token_latency_s.p99"),
    ("output_tokens_per_s", "throughput.output_tokens_per_s"),
    ("max_requests_per_s", "throughput.max_requests_per_s"),
    ("usd_per_million_output_tokens", "cost.usd_per_million_output_tokens"),
    ("usd_per_hour", "cost.usd_per_hour"),
    ("joules_per_output_token", "cost.joules_per_output_token"),
)


def climb(plan: Plan, baseline: Evaluation, shipped: Evaluation) -> tuple[LeverStep, ...]:
    """Adopted levers cumulatively; a considered one on top of everything shipped; a rejected one not at all.

    Effects are compared in closed form, both before and after, whatever the load; of levers that only the simulation
    sees, in two runs with the same requests.
    """
    return tuple(_Climb(plan, baseline, shipped).steps())


class _Climb:
    """baseline, shipped: as they are reported, simulated where the load has no closed form."""

    def __init__(self, plan: Plan, baseline: Evaluation, shipped: Evaluation) -> None:
        self.plan, self.shipped = plan, shipped
        self.bare, self.everything = configure(plan, ()), adopted(plan)
        self.final = configure(plan, self.everything)
        self._simulates = _simulates(self.bare)
        self._closed: list[tuple[Plan, Evaluation]] = [] if self._simulates else [(self.bare, baseline)]
        self._runs: list[tuple[Plan, Evaluation]] = [(self.bare, baseline)] if self._simulates else []
        if _simulates(self.final):
            self._runs.append((self.final, shipped))
        else:
            self._closed.append((self.final, shipped))

    def steps(self) -> Iterator[LeverStep]:
        stacked: list[LeverUse] = []
        below = self.bare
        for use in self.plan.levers:
            if use.status == "reject":
                yield _step(use, None, None)
                continue
            if use.status == "adopt":
                stacked.append(use)
                here = configure(self.plan, stacked)
                compared = self._compared(use, below, here)
                last = len(stacked) == len(self.everything)
                yield _step(use, compared, self.shipped if last else compared[1])
                below = here
            else:
                tried = tuple(item for item in self.plan.levers if item in self.everything or item is use)
                compared = self._compared(use, self.final, configure(self.plan, tried))
                yield _step(use, compared, compared[1])

    def _compared(self, use: LeverUse, below: Plan, here: Plan) -> tuple[Evaluation, Evaluation]:
        recorded = self.plan.workload.load.kind == "trace"
        if (recorded or getattr(levers.get(use.use), "SIMULATED", False)) and here != below:
            return self._run(_shortened(below)), self._run(_shortened(here))
        before = self._closed_form(below)
        return before, before if here == below else self._closed_form(here)

    def _closed_form(self, plan: Plan) -> Evaluation:
        from planner.evaluation import evaluate

        return _known(self._closed, plan, lambda: evaluate(plan))

    def _run(self, plan: Plan) -> Evaluation:
        from planner.evaluation import detail
        from planner.evaluation.simulation import run_of

        return _known(self._runs, plan, lambda: detail(plan, simulator=run_of).evaluation)


def _shortened(plan: Plan) -> Plan:
    """Under the beginning of recorded traffic, which has no closed form: as much as tells levers apart."""
    load = plan.workload.load
    if load.kind != "trace" or (load.requests or math.inf) <= RECORDED:
        return plan
    return replace(plan, workload=replace(plan.workload, load=replace(load, requests=RECORDED)))


def _simulates(plan: Plan) -> bool:
    from planner.evaluation import simulation

    return simulation.wanted(plan)


def _known(found: list[tuple[Plan, Evaluation]], plan: Plan, make: Callable[[], Evaluation]) -> Evaluation:
    """Plans hold mappings, so they are told apart by comparing, not by hashing."""
    for other, evaluation in found:
        if other == plan:
            return evaluation
    made = make()
    found.append((plan, made))
    return made


def _step(use: LeverUse, compared: tuple[Evaluation, Evaluation] | None, after: Evaluation | None) -> LeverStep:
    module = levers.get(use.use)
    evaluate = module.evaluate(use.lever_class) if use.use == "change" else module.EVALUATE
    obligations = tuple(Obligation(text) for _, text in evaluate)
    effect = None if compared is None else effect_of(*compared)
    return LeverStep(use, effect, after, obligations, module.REDUCES, compared=compared)


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
