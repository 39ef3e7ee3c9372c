"""What one step asks of one rank, from the layer groups: bytes to read, operations to do, messages to send."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from planner.domain import formats
from planner.domain.model import LayerGroup, Mixer, Model, Weight
from planner.domain.plan import Plan
from planner.domain.remembering import by_object
from planner.domain.shards import Parallel, entry_bytes, stored_bytes, weight_share
from planner.physics import elementwise
from planner.physics.roofline_floor import distinct_experts


@dataclass(frozen=True, slots=True)
class ExpertWork:
    """Experts of equal layers, on one rank: bytes of one expert, and how many there are."""

    layers: int
    experts: float
    experts_per_token: float
    bytes_each: float


@dataclass(frozen=True, slots=True)
class CacheWork:
    """Cache reads of equal layers, on one rank: bytes of one kept entry, at most `limit` tokens seen."""

    layers: int
    bytes_each: float
    limit: float | None
    stride: int


@dataclass(frozen=True, slots=True)
class AttentionWork:
    """Score and value products of equal layers, on one rank, for each (query, key) pair."""

    layers: int
    prefill_flop: float
    decode_flop: float
    limit: float | None


@dataclass(frozen=True, slots=True)
class Work:
    """One rank's share of a step. resident_bytes: weights read whole in every step. state_bytes: a sequence's
    recurrent state, read and written. flop_per_token: linear layers; head_flop: for a sampled position.
    arithmetic: {format: share of flop_per_token that runs in it}. hidden: width of a token's activations.
    """

    resident_bytes: float
    experts: tuple[ExpertWork, ...]
    caches: tuple[CacheWork, ...]
    attention: tuple[AttentionWork, ...]
    state_bytes: float
    flop_per_token: float
    head_flop: float
    compute_formats: tuple[tuple[str, float], ...]
    layers: int
    hidden: int

    def weight_bytes(self, tokens: Any) -> Any:
        """Weights that a step of so many tokens reads: the resident ones and the experts touched."""
        touched: Any = 0.0
        for work in self.experts:
            touched = touched + work.layers * work.bytes_each * distinct_experts(
                work.experts, work.experts_per_token, tokens
            )
        return self.resident_bytes + touched

    def cache_bytes(self, context: Any) -> Any:
        """Cache that one decoding sequence of `context` tokens reads."""
        total: Any = 0.0
        for work in self.caches:
            seen = context / work.stride
            total = total + work.layers * work.bytes_each * (
                seen if work.limit is None else elementwise.minimum(seen, work.limit)
            )
        return total

    def decode_flop(self, context: Any) -> Any:
        """Operations of one token that sees `context` tokens, head included."""
        total: Any = self.flop_per_token + self.head_flop
        for work in self.attention:
            seen = context if work.limit is None else elementwise.minimum(context, work.limit)
            total = total + work.layers * work.decode_flop * seen
        return total

    def prefill_flop(self, tokens: Any, cached: Any = 0.0) -> Any:
        """Operations of a prompt of `tokens` after `cached` ones: causal, so each sees half of the others."""
        total: Any = self.flop_per_token * tokens + self.head_flop
        for work in self.attention:
            seen = cached + tokens / 2
            if work.limit is not None:
                seen = elementwise.minimum(seen, work.limit)
            total = total + work.layers * work.prefill_flop * tokens * seen
        return total


def work_of(plan: Plan) -> Work:
    """The whole model's work on one tensor-parallel rank: pipeline stages one after the other."""
    computes = tuple(sorted(plan.hardware.accelerator.arithmetic_flop_per_s))
    return _work(plan.model, Parallel.of(plan.engine), plan.engine.name == "ideal", plan.cache_format, computes)


@by_object
def _work(model: Model, parallel: Parallel, nominal: bool, cache_format: str | None, computes: tuple[str, ...]) -> Work:
    """nominal: as the ideal engine charges weights. computes: formats that the accelerator has arithmetic for."""
    weights = tuple(model.weights())
    resident = math.fsum(
        count * stored_bytes(weight, model, nominal=nominal) * _share(weight, parallel, nominal)
        for count, weight in weights
        if weight.role not in ("expert", "embedding", "position", "tower")
    )
    head = model.head
    tied = model.embedding[0] if head is None and model.embedding else None
    if tied is not None:
        resident += stored_bytes(tied, model, nominal=nominal) * _share(tied, parallel, nominal)
    flop, by_format = _linear_flop(model, parallel, weights, computes)
    return Work(
        resident_bytes=resident,
        experts=tuple(_experts(model, parallel, nominal)),
        caches=tuple(_caches(model, parallel, cache_format)),
        attention=tuple(_attention(model, parallel)),
        state_bytes=math.fsum(
            count * state.bytes_per_sequence / min(parallel.tensor, state.shards) for count, state in model.states()
        ),
        flop_per_token=flop,
        head_flop=2.0 * (head or tied).parameters / parallel.tensor if (head or tied) else 0.0,  # type: ignore[union-attr]
        compute_formats=by_format,
        layers=model.layers,
        hidden=model.hidden,
    )


def _share(weight: Weight, parallel: Parallel, nominal: bool) -> float:
    if nominal and weight.shard == "vocabulary":
        return 1.0 / parallel.tensor
    return weight_share(weight, parallel)


def _linear_flop(
    model: Model, parallel: Parallel, weights: tuple[tuple[int, Weight], ...], computes: tuple[str, ...]
) -> tuple[float, tuple[tuple[str, float], ...]]:
    """2 FLOP a parameter and token, by the format that the products run in."""
    sums: dict[str, float] = {}
    for count, weight in weights:
        if not weight.multiplied or weight.role == "head":
            continue
        name = formats.compute_format(weight.format or model.dtype, model.dtype, computes)
        ranks = parallel.tensor * parallel.data if weight.role == "expert" else parallel.tensor
        share = 1.0 / parallel.tensor if weight.role == "expert" else max(weight_share(weight, parallel), 1.0 / ranks)
        sums[name] = sums.get(name, 0.0) + 2.0 * count * weight.active_parameters * share
    total = math.fsum(sums.values())
    return total, tuple((name, value / total) for name, value in sorted(sums.items())) if total else ()


def _experts(model: Model, parallel: Parallel, nominal: bool) -> list[ExpertWork]:
    found = []
    for group in model.groups:
        for feed_forward in group.feed_forwards:
            if not feed_forward.experts:
                continue
            size = math.fsum(
                stored_bytes(weight, model, nominal=nominal) * weight_share(weight, parallel)
                for weight in feed_forward.weights
                if weight.role == "expert"
            )
            found.append(
                ExpertWork(
                    group.count, feed_forward.experts, feed_forward.experts_per_token, size / feed_forward.experts
                )
            )
    return found


def _caches(model: Model, parallel: Parallel, cache_format: str | None) -> list[CacheWork]:
    found = []
    for group in model.groups:
        for mixer in group.mixers:
            for entry in mixer.cache:
                if entry.role == "cross":
                    continue
                size = entry_bytes(entry, model, cache_format, parallel)
                limit = entry.window if entry.role == "index" else _limit(mixer, entry.window)
                found.append(CacheWork(group.count, size, limit, entry.stride))
    return found


def _limit(mixer: Mixer, window: int | None) -> float | None:
    limits = [value for value in (window, mixer.sparse_tokens) if value is not None]
    return min(limits) if limits else None


def _attention(model: Model, parallel: Parallel) -> list[AttentionWork]:
    return [_products(group, mixer, parallel) for group in model.groups for mixer in group.mixers if mixer.attends]


def _products(group: LayerGroup, mixer: Mixer, parallel: Parallel) -> AttentionWork:
    """2 FLOP for each of (key width + value width) and head; fewer heads on each rank."""
    heads = max(1.0, mixer.heads / parallel.tensor)
    decode = (mixer.decode_key_dim or mixer.key_dim) + (mixer.decode_value_dim or mixer.value_dim)
    return AttentionWork(
        group.count,
        2.0 * heads * (mixer.key_dim + mixer.value_dim),
        2.0 * heads * decode,
        _limit(mixer, mixer.window),
    )
