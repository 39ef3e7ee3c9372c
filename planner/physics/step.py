"""One step of continuous batching on one pipeline stage: prefill chunks beside decodes, in seconds.

Two stages. `StepCost` holds coefficients, compiled once from a model, a parallel layout, an accelerator and the
measured constants of engine and hardware (`planner.evaluation.step_cost`). `step_terms(cost, ...)` is cheap enough
for every step of an event simulation, takes numpy arrays in any argument and in any coefficient, and gives every
term. `decode_line` gives the straight line in the context sum on which decode steps of one batch lie, so that a
simulation can skip them: n steps cost n a + slope (n S + B n (n - 1)/2).

    tokens = decodes x width + prefill_tokens
    stage  = linear(tokens) + experts(tokens) + head(sampled)                 rooflines of reading and arithmetic
           + cache(context_sum) + states(decodes) + attention(prefill_pairs)  decode and prefill attention
           + elementwise(tokens) + unpacking + kernels + communication(tokens)
    total  = (stage, or what the host needs to launch it where no graph is captured) + host + sequences + hop

With `exponent` infinite, achieved shares of 1 and no overheads, `merged` gives the textbook's
max(bytes / bandwidth, FLOP / peak) over the whole step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from planner.physics import elementwise
from planner.physics.attention import seen_tokens, windowed_pairs
from planner.physics.collectives import LatencyTable, interpolated_s
from planner.physics.experts import touched_share
from planner.physics.roofline import roofline_s

LAUNCH_EXPONENT = 4.0
"""Host and device run side by side: the step takes (device^4 + host^4)^(1/4), nearly the longer of the two."""


@dataclass(frozen=True, slots=True)
class ExpertCost:
    """Experts of equal layers. read_s: all of the rank's experts once. arithmetic_s: of one token through its own.

    token_ranks: data-parallel ranks whose tokens these experts serve.
    """

    read_s: Any
    arithmetic_s: Any
    experts: Any
    experts_per_token: Any
    token_ranks: Any = 1.0


@dataclass(frozen=True, slots=True)
class AttentionCost:
    """Attention of equal layers. read_s, decode_arithmetic_s: for each cached token that a decoding sequence sees.

    prefill_arithmetic_s: for each (query, key) pair. window: tokens seen at most, None for all.
    """

    read_s: Any
    decode_arithmetic_s: Any
    prefill_arithmetic_s: Any
    window: float | None = None


@dataclass(frozen=True, slots=True)
class CollectiveCost:
    """Collectives of a step, `count` of each size: bytes_per_token x tokens. scale: measured over the table."""

    count: Any
    bytes_per_token: Any
    table: LatencyTable | None = None
    scale: Any = 1.0
    scale_large: Any = 1.0
    small_bytes: float = 256 * 1024.0
    large_bytes: float = 16 * 1024.0**2


@dataclass(frozen=True, slots=True)
class StepCost:
    """Coefficients of one rank of one pipeline stage; seconds, or seconds a unit. Figures may be arrays.

    linear_read_s: every weight that all tokens use, head left out; linear_arithmetic_s: a token.
    head_read_s, head_arithmetic_s: the last stage's; a sampled position. state_s: a sequence's recurrent state,
    read and written. state_arithmetic_s: a token. elementwise_s: a token's activations through norms, rotary
    embedding, activation functions. unpack_s: weights unpacked to 16 bits once for a step of `unpack_tokens` or
    more. kernels_s: fixed time of the kernels of a step. launch_s: host time to launch a step outside a captured
    graph; captured: decode steps are captured. captured_tokens: steps with prompt tokens up to this size run in
    graphs cut at attention, which leaves captured_launches of the launches. host_s: scheduler and sampler, a step;
    sequence_s: a sequence. hop_s, hop_token_s: to the next stage, of a step and of a token's activations. stages:
    pipeline stages. exponent: of the rooflines. merged: one roofline over the whole step.
    """

    linear_read_s: Any
    linear_arithmetic_s: Any
    head_read_s: Any
    head_arithmetic_s: Any
    experts: tuple[ExpertCost, ...] = ()
    attention: tuple[AttentionCost, ...] = ()
    collectives: tuple[CollectiveCost, ...] = ()
    state_s: Any = 0.0
    state_arithmetic_s: Any = 0.0
    elementwise_s: Any = 0.0
    unpack_s: Any = 0.0
    unpack_tokens: float = 32.0
    kernels_s: Any = 0.0
    launch_s: Any = 0.0
    captured: Any = True
    captured_tokens: Any = 0.0
    captured_launches: Any = 1.0
    host_s: Any = 0.0
    sequence_s: Any = 0.0
    hop_s: Any = 0.0
    hop_token_s: Any = 0.0
    stages: Any = 1.0
    exponent: float = 1.5
    merged: bool = False


@dataclass(frozen=True, slots=True)
class StepTerms:
    """Where the time of a step on one stage goes, seconds. `total_s` is their sum.

    memory_s, compute_s: reading and arithmetic at achieved rates, before either hides the other.
    overlap_s: what one roofline over the whole step saves against one for each part (`merged`), else 0.
    """

    linear_s: Any
    experts_s: Any
    head_s: Any
    cache_s: Any
    state_s: Any
    attention_s: Any
    elementwise_s: Any
    unpack_s: Any
    kernels_s: Any
    communication_s: Any
    launch_s: Any
    host_s: Any
    sequences_s: Any
    hop_s: Any
    overlap_s: Any
    memory_s: Any
    compute_s: Any
    total_s: Any


@dataclass(slots=True)
class _Parts:
    """Reading and arithmetic of a step, and the time of each part."""

    exponent: float
    memory_s: Any = 0.0
    compute_s: Any = 0.0
    times: list[Any] = field(default_factory=list)

    def add(self, read_s: Any, arithmetic_s: Any) -> Any:
        self.memory_s = self.memory_s + read_s
        self.compute_s = self.compute_s + arithmetic_s
        found = roofline_s(read_s, arithmetic_s, self.exponent)
        self.times.append(found)
        return found


def step_terms(
    cost: StepCost,
    decodes: Any,
    context_sum: Any,
    prefill_tokens: Any = 0.0,
    prefill_pairs: Any = 0.0,
    sampled: Any = None,
    width: float = 1.0,
) -> StepTerms:
    """The time of one step, term by term.

    decodes: sequences that decode. context_sum: their cached tokens together. prefill_tokens: prompt tokens in the
    step. prefill_pairs: (query, key) pairs of them, `attention.causal_pairs`. sampled: positions that get logits;
    None: every decoded token. width: tokens a decoding sequence brings (1, or draft tokens + 1 to verify).
    """
    tokens = decodes * width + prefill_tokens
    parts = _Parts(cost.exponent)
    linear = parts.add(cost.linear_read_s, cost.linear_arithmetic_s * tokens)
    experts: Any = 0.0
    for expert in cost.experts:
        share = touched_share(expert.experts, expert.experts_per_token, tokens * expert.token_ranks)
        experts = experts + parts.add(expert.read_s * share, expert.arithmetic_s * tokens)
    positions = decodes * width if sampled is None else sampled
    head = parts.add(cost.head_read_s, cost.head_arithmetic_s * positions)
    cache, attention = _attention(cost, parts, decodes, context_sum, prefill_tokens, prefill_pairs, width)
    state = parts.add(cost.state_s * decodes, cost.state_arithmetic_s * tokens)
    elementwise_s = cost.elementwise_s * tokens
    unpack = cost.unpack_s * (tokens >= cost.unpack_tokens)
    communication = _communication(cost, tokens)
    fixed = elementwise_s + unpack + cost.kernels_s + communication
    apart = linear + experts + head + cache + attention + state
    device = (elementwise.maximum(parts.memory_s, parts.compute_s) if cost.merged else apart) + fixed
    launched = _launched(cost, device, prefill_tokens, tokens)
    sequences = cost.sequence_s * decodes
    hop = cost.hop_s + cost.hop_token_s * tokens
    return StepTerms(
        linear_s=linear, experts_s=experts, head_s=head, cache_s=cache, state_s=state, attention_s=attention,
        elementwise_s=elementwise_s, unpack_s=unpack, kernels_s=cost.kernels_s, communication_s=communication,
        launch_s=launched - device, host_s=cost.host_s, sequences_s=sequences, hop_s=hop,
        overlap_s=device - fixed - apart if cost.merged else 0.0,
        memory_s=parts.memory_s, compute_s=parts.compute_s,
        total_s=launched + cost.host_s + sequences + hop,
    )  # fmt: skip


def step_s(cost: StepCost, decodes: Any, context_sum: Any, prefill_tokens: Any = 0.0, prefill_pairs: Any = 0.0,
           sampled: Any = None, width: float = 1.0) -> Any:  # fmt: skip
    """`step_terms(...).total_s`."""
    return step_terms(cost, decodes, context_sum, prefill_tokens, prefill_pairs, sampled, width).total_s


def decode_line(cost: StepCost, decodes: float, context: float, width: float = 1.0) -> tuple[float, float, float]:
    """(a, slope, limit): steps of `decodes` sequences take a + slope x context sum, seconds.

    context: mean cached tokens of them now. limit: mean context up to which the line holds: the next window
    that fills (infinity where none does).
    """
    windows = sorted(item.window for item in cost.attention if item.window is not None and item.window > context)
    limit = windows[0] if windows else math.inf
    now = context * decodes
    ahead = now + decodes * (min(limit - context, 1024.0) if math.isfinite(limit) else 1024.0)
    first = step_s(cost, decodes, now, width=width)
    slope = (step_s(cost, decodes, ahead, width=width) - first) / (ahead - now) if ahead > now else 0.0
    return float(first - slope * now), float(slope), limit


def _attention(
    cost: StepCost, parts: _Parts, decodes: Any, context_sum: Any, tokens: Any, pairs: Any, width: float
) -> tuple[Any, Any]:
    """Decode attention reads what each sequence sees; prefill attention computes its pairs, or reads earlier chunks."""
    cache: Any = 0.0
    attention: Any = 0.0
    earlier = elementwise.maximum(pairs / elementwise.maximum(tokens, 1.0) - tokens / 2.0, 0.0)
    for item in cost.attention:
        seen = context_sum
        if item.window is not None:
            seen = elementwise.minimum(context_sum, decodes * item.window)
        cache = cache + parts.add(item.read_s * seen, item.decode_arithmetic_s * seen * width)
        read = item.read_s * seen_tokens(earlier, item.window)
        attention = attention + parts.add(read, item.prefill_arithmetic_s * windowed_pairs(pairs, tokens, item.window))
    return cache, attention


def _communication(cost: StepCost, tokens: Any) -> Any:
    total: Any = 0.0
    for item in cost.collectives:
        if item.table is None:
            continue
        message = elementwise.maximum(tokens * item.bytes_per_token, 1.0)
        total = total + item.count * interpolated_s(message, item.table) * collective_scale(item, message)
    return total


def collective_scale(item: CollectiveCost, message: Any) -> Any:
    """Measured over the table: from `scale` for small messages to `scale_large`, by the logarithm of the bytes."""
    if item.scale is item.scale_large:
        return item.scale
    span = math.log(item.large_bytes / item.small_bytes)
    share = elementwise.logarithm(message / item.small_bytes) / span
    share = elementwise.minimum(elementwise.maximum(share, 0.0), 1.0)
    return item.scale * elementwise.power(item.scale_large / item.scale, share)


def _launched(cost: StepCost, device_s: Any, prefill_tokens: Any, tokens: Any) -> Any:
    """Steps with prompt tokens run outside captured graphs, and so does every step where none is captured."""
    decodes_free = not cost.captured if isinstance(cost.captured, bool) else ~cost.captured
    share = elementwise.where(tokens <= cost.captured_tokens, cost.captured_launches, 1.0)
    host = roofline_s(device_s, cost.launch_s * share, LAUNCH_EXPONENT)
    return elementwise.where((prefill_tokens > 0) | decodes_free, host, device_s)
