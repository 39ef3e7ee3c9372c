"""The two phases of serving on one accelerator: how long each takes of a request, how hard each drives the chip.

The split of time between a prompt and its answer, which is also the split of cost between input and output tokens:

    prefill = the prompt's new tokens, alone
    decode  = (output - 1) / tokens a step x step time(B) / (B x fill)     its share of the steps of a batch of B

Chunked prefill runs both in one step; what they share (reading the weights once) is left to neither.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from planner.domain.plan import Plan
from planner.evaluation.service import Service
from planner.evaluation.work import Work


@dataclass(frozen=True, slots=True)
class Phase:
    """seconds: of one request. bandwidth, arithmetic: shares of the accelerator's peaks while the phase runs."""

    seconds: float
    bandwidth: float
    arithmetic: float


@dataclass(frozen=True, slots=True)
class Phases:
    """prefill None: the spec gives no prompts."""

    prefill: Phase | None
    decode: Phase

    @property
    def prefill_share(self) -> float:
        """Of the engine time of one request."""
        if self.prefill is None:
            return 0.0
        total = self.prefill.seconds + self.decode.seconds
        return self.prefill.seconds / total if total else 0.0


def phases_of(service: Service, batch: float) -> Phases:
    """Of one request where `batch` sequences decode together on a data-parallel rank."""
    mix, work = service.mix, service.step.work
    stages = service.plan.engine.pipeline_parallel_size
    bandwidth, arithmetic = _peaks(service.plan, work)
    step_s, context = service.decode_s(batch), mix.context
    groups = max(min(stages, batch), 1.0)
    width = _width(service.plan)
    read = groups * work.weight_bytes(batch / groups * width)
    read += batch * (work.cache_bytes(context) + 2.0 * work.state_bytes)
    decode = Phase(
        seconds=max(mix.output - 1.0, 0.0) / service.tokens_per_step * step_s / batch / service.fill,
        bandwidth=float(read / stages / step_s / bandwidth),
        arithmetic=float(batch * width * work.decode_flop(context) / stages / step_s / arithmetic),
    )
    if not mix.has_prompt:
        return Phases(None, decode)
    new, prefill_s = max(mix.prompt - mix.cached, 1.0), service.mean_prefill_s
    chunk = float(service.plan.engine.max_num_batched_tokens or new)
    passes = 1.0 if service.step.ideal else math.ceil(new / chunk)
    read = passes * work.weight_bytes(new / passes) + work.cache_bytes(mix.cached)
    flop = work.prefill_flop(new, mix.cached)
    prefill = Phase(
        prefill_s, float(read / stages / prefill_s / bandwidth), float(flop / stages / prefill_s / arithmetic)
    )
    return Phases(prefill, decode)


def _width(plan: Plan) -> float:
    """Tokens that a decoding sequence brings to a step."""
    speculation = plan.techniques.speculation
    return speculation.proposed + 1.0 if speculation else 1.0


def _peaks(plan: Plan, work: Work) -> tuple[float, float]:
    """(byte/s, FLOP/s) of one accelerator; arithmetic by the share of operations that runs in each format."""
    card = plan.hardware.accelerator
    rates = card.arithmetic_flop_per_s
    formats = work.compute_formats or ((plan.model.dtype, 1.0),)
    seconds = math.fsum(share / _rate(rates, name) for name, share in formats)
    return card.bandwidth_bytes_per_s, math.fsum(share for _, share in formats) / seconds


def _rate(rates: Mapping[str, float], name: str) -> float:
    known = (rates[key] for key in (name, "bf16", "fp16", "fp32") if rates.get(key))
    return float(next(known, max(rates.values())))
