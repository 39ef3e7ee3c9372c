"""The time of one decode step, and of one prompt's prefill, split by what takes it.

A real engine's comes from measured constants (`planner.evaluation.step_cost`); the ideal engine's is the floor of
bytes over bandwidth and operations over arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from planner.domain.evaluation import Split
from planner.domain.plan import Plan
from planner.evaluation import measured_step
from planner.evaluation.efficiencies import efficiencies_of
from planner.evaluation.step_cost import step_cost_of
from planner.evaluation.work import Work, work_of
from planner.physics import elementwise
from planner.physics.roofline_floor import compute_s, read_s
from planner.physics.serving import Engine, Requests
from planner.physics.step import StepCost


@dataclass(frozen=True, slots=True)
class Floor:
    """The ideal engine's step: one rank's work, and rates that are peaks times what is declared."""

    work: Work
    flop_per_s: float
    attention_flop_per_s: float


@dataclass(frozen=True, slots=True)
class Step:
    """A plan's step, ready to be asked for times. One of `floor` (the ideal engine) and `cost` (a real one) is set.

    bandwidth_bytes_per_s: achieved. engine: how a real engine runs steps, for one seat.
    """

    plan: Plan
    bandwidth_bytes_per_s: float
    floor: Floor | None = None
    cost: StepCost | None = None
    engine: Engine | None = None

    @property
    def ideal(self) -> bool:
        return self.floor is not None

    @property
    def work(self) -> Work:
        """What the step asks, whoever's constants time it."""
        return self.floor.work if self.floor is not None else work_of(self.plan)

    def decode(self, batch: Any, context: Any) -> Split:
        """One step of `batch` sequences on one data-parallel rank, each of `context` cached tokens."""
        if self.cost is not None:
            return measured_step.decode_split(self.cost, batch, context, self.tokens_a_sequence())
        floor = self._floor()
        work, stages = floor.work, self.plan.engine.pipeline_parallel_size
        group = batch / stages if stages > 1 else batch
        tokens = group * self.tokens_a_sequence()
        weights = read_s(work.weight_bytes(tokens), self.bandwidth_bytes_per_s)
        cache = read_s(group * (work.cache_bytes(context) + 2.0 * work.state_bytes), self.bandwidth_bytes_per_s)
        attention = (work.decode_flop(context) - work.flop_per_token - work.head_flop) * tokens
        linear = compute_s((work.flop_per_token + work.head_flop) * tokens, floor.flop_per_s)
        return _split(weights, cache, linear + compute_s(attention, floor.attention_flop_per_s))

    def prefill(self, tokens: Any, cached: Any = 0.0) -> Split:
        """One prompt of `tokens` new tokens after `cached` ones, alone."""
        if self.cost is not None and self.engine is not None:
            return measured_step.prefill_split(self.cost, Requests(tokens, cached, 1.0), self.engine_for(tokens))
        floor = self._floor()
        work = floor.work
        weights = read_s(work.weight_bytes(tokens), self.bandwidth_bytes_per_s)
        cache = read_s(work.cache_bytes(cached), self.bandwidth_bytes_per_s)
        linear = work.flop_per_token * tokens + work.head_flop
        attention = work.prefill_flop(tokens, cached) - linear
        compute = compute_s(linear, floor.flop_per_s) + compute_s(attention, floor.attention_flop_per_s)
        return _split(weights, cache, compute)

    def engine_for(self, tokens: Any) -> Engine:
        """The engine's way with a prompt of `tokens`, which stays whole where prompts are not cut to the budget."""
        if self.engine is None:
            raise ValueError("a floor has no engine")
        if self.plan.techniques.chunked_prefill:
            return self.engine
        return replace(self.engine, chunk_tokens=elementwise.maximum(self.engine.chunk_tokens, tokens))

    def _floor(self) -> Floor:
        if self.floor is None:
            raise ValueError("a step has a floor or a cost")
        return self.floor

    def tokens_a_sequence(self) -> float:
        """Tokens that a decoding sequence brings to a step: one, or the proposed ones and one."""
        speculation = self.plan.techniques.speculation
        return speculation.proposed + 1.0 if speculation else 1.0


def _split(weights: Any, cache: Any, compute: Any) -> Split:
    """Reading and computing overlap: the longer counts."""
    memory = weights + cache
    bound = "bandwidth" if memory >= compute else "compute"
    terms = {"weights_s": weights, "cache_s": cache, "compute_s": compute}
    return Split(bound, memory, compute, 0.0, 0.0, terms)


def seconds(split: Split) -> float:
    """The time of the step: max(memory, compute) + communication + overhead."""
    longer = elementwise.maximum(split.memory_s, split.compute_s)
    return float(longer + split.communication_s + split.overhead_s)


def step_of(plan: Plan) -> Step:
    """The step of a configured plan."""
    card, declared = plan.hardware.accelerator, plan.hardware.derate
    if plan.engine.name != "ideal":
        share = declared.bandwidth if declared else efficiencies_of(plan)("bandwidth", "16")
        bandwidth = card.bandwidth_bytes_per_s * share
        return Step(plan, bandwidth, cost=step_cost_of(plan), engine=measured_step.engine_of(plan, 1.0))
    derate = declared or card.derate
    work = work_of(plan)
    floor = Floor(work, _rate(work, plan) * derate.compute, _of_format(plan, plan.model.dtype) * derate.compute)
    return Step(plan, card.bandwidth_bytes_per_s * derate.bandwidth, floor=floor)


def _rate(work: Work, plan: Plan) -> float:
    """Harmonic mean of the rates of the formats that the products run in, by their share of the operations."""
    if not work.compute_formats:
        return _of_format(plan, plan.model.dtype)
    return 1.0 / math.fsum(share / _of_format(plan, name) for name, share in work.compute_formats)


def _of_format(plan: Plan, name: str) -> float:
    """The card's rate for a format; a 16-bit format without figures of its own takes the other's, then fp32's."""
    rates = plan.hardware.accelerator.arithmetic_flop_per_s
    for candidate in (name, "bf16", "fp16", "fp32"):
        if rates.get(candidate):
            return rates[candidate]
    return max(rates.values())
