"""The time of one decode step, and of one prompt's prefill, split by what takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from planner.domain.evaluation import Split
from planner.domain.plan import Plan
from planner.evaluation.work import Work, work_of
from planner.physics import elementwise
from planner.physics.roofline_floor import compute_s, read_s, ring_all_reduce_s
from planner.resources import PACKAGE

ACTIVATION_BYTES = 2.0


@dataclass(frozen=True, slots=True)
class Step:
    """A plan's step, ready to be asked for times. Rates are achieved ones."""

    plan: Plan
    work: Work
    bandwidth_bytes_per_s: float
    flop_per_s: float
    attention_flop_per_s: float
    layer_s: float
    host_s: float
    sequence_s: float
    all_reduce_s: float
    link_bytes_per_s: float
    ideal: bool

    def decode(self, batch: Any, context: Any) -> Split:
        """One step of `batch` sequences on one data-parallel rank, each of `context` cached tokens."""
        tokens = self._tokens_a_sequence()
        work, stages = self.work, self.plan.engine.pipeline_parallel_size
        group = batch / stages if stages > 1 else batch
        weights = read_s(work.weight_bytes(group * tokens), self.bandwidth_bytes_per_s)
        cache = read_s(group * (work.cache_bytes(context) + 2.0 * work.state_bytes), self.bandwidth_bytes_per_s)
        attention = (work.decode_flop(context) - work.flop_per_token - work.head_flop) * group * tokens
        linear = compute_s((work.flop_per_token + work.head_flop) * group * tokens, self.flop_per_s)
        compute = linear + compute_s(attention, self.attention_flop_per_s)
        communication = self._communication(group * tokens)
        overhead = work.layers * self.layer_s + self.host_s + self.sequence_s * group
        return _split(weights, cache, compute, communication, overhead)

    def prefill(self, tokens: Any, cached: Any = 0.0) -> Split:
        """One prompt of `tokens` new tokens after `cached` ones, alone."""
        work = self.work
        weights = read_s(work.weight_bytes(tokens), self.bandwidth_bytes_per_s)
        cache = read_s(work.cache_bytes(cached), self.bandwidth_bytes_per_s)
        linear = work.flop_per_token * tokens + work.head_flop
        attention = work.prefill_flop(tokens, cached) - linear
        compute = compute_s(linear, self.flop_per_s) + compute_s(attention, self.attention_flop_per_s)
        return _split(weights, cache, compute, self._communication(tokens), work.layers * self.layer_s + self.host_s)

    def _communication(self, tokens: Any) -> Any:
        """Two all-reduces a layer of every token's activations."""
        ranks = self.plan.engine.tensor_parallel_size
        if ranks <= 1 or self.ideal:
            return 0.0
        message = tokens * self.work.hidden * ACTIVATION_BYTES
        return 2 * self.work.layers * ring_all_reduce_s(message, ranks, self.link_bytes_per_s, self.all_reduce_s)

    def _tokens_a_sequence(self) -> float:
        speculation = self.plan.techniques.speculation
        return speculation.proposed + 1.0 if speculation else 1.0


def _split(weights: Any, cache: Any, compute: Any, communication: Any, overhead: Any) -> Split:
    """Reading and computing overlap: the longer counts; what is sent and the overheads come on top."""
    memory = weights + cache
    parts = {"bandwidth": memory, "compute": compute, "communication": communication, "overhead": overhead}
    hidden = {"bandwidth": memory if memory >= compute else 0.0, "compute": compute if compute > memory else 0.0}
    bound = max({**parts, **hidden}.items(), key=lambda item: item[1])[0]
    terms = {
        "weights_s": weights,
        "cache_s": cache,
        "compute_s": compute,
        "communication_s": communication,
        "overhead_s": overhead,
    }
    return Split(bound, memory, compute, communication, overhead, terms)


def seconds(split: Split) -> float:
    """The time of the step: max(memory, compute) + communication + overhead."""
    longer = elementwise.maximum(split.memory_s, split.compute_s)
    return float(longer + split.communication_s + split.overhead_s)


@lru_cache(maxsize=1)
def _prior() -> dict[str, float]:
    text = (PACKAGE / "catalogue" / "priors" / "latency.yaml").read_text(encoding="utf-8")
    return {
        key: float(value)
        for key, value in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)).items()
    }


def step_of(plan: Plan) -> Step:
    """The step of a configured plan."""
    card, derate = plan.hardware.accelerator, plan.hardware.derate or plan.hardware.accelerator.derate
    ideal = plan.engine.name == "ideal"
    prior = dict.fromkeys(_prior(), 0.0) if ideal else _prior()
    work = work_of(plan)
    links = plan.hardware.links
    link = links.scale_up_bytes_per_s or _prior()["link_bytes_per_s"]
    eager = not ideal and not plan.techniques.cuda_graphs
    return Step(
        plan=plan,
        work=work,
        bandwidth_bytes_per_s=card.bandwidth_bytes_per_s * derate.bandwidth,
        flop_per_s=_rate(work, plan) * derate.compute,
        attention_flop_per_s=_of_format(plan, plan.model.dtype) * derate.compute,
        layer_s=prior["eager_layer_s"] if eager else prior["layer_s"],
        host_s=prior["host_s"],
        sequence_s=prior["sequence_s"],
        all_reduce_s=prior["all_reduce_s"],
        link_bytes_per_s=link * (_prior()["all_reduce_link"]),
        ideal=ideal,
    )


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
