"""The mixed step for the millions of steps of an event simulation: numbers alone, coefficients taken apart once.

`step_function(cost)` gives what `step.step_s(cost, ...)` gives, four times as fast; tests hold both equal. What does
not depend on the step (reads of weights to the power of the roofline's exponent, which parts are nothing) is worked
out when the function is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from planner.physics.collectives import interpolated_s
from planner.physics.experts import touched_share
from planner.physics.roofline import roofline_s
from planner.physics.step import LAUNCH_EXPONENT, CollectiveCost, StepCost, collective_scale, step_s

StepFunction = Callable[[float, float, float, float, float], float]
"""(decodes, context_sum, prefill_tokens, prefill_pairs, sampled) -> seconds."""
TokenFunction = Callable[[float], float]


def step_function(cost: StepCost, width: float = 1.0) -> StepFunction:
    """`step_s` of one cost and width as a function of numbers. Where coefficients are arrays, `step_s` itself.

    decodes, context_sum, prefill_tokens, prefill_pairs, sampled: as in `step_terms`.
    """
    if cost.merged or math.isinf(cost.exponent) or not _numbers(cost):
        return lambda decodes, context_sum, tokens, pairs, sampled: float(
            step_s(cost, decodes, context_sum, tokens, pairs, sampled, width)
        )
    return _compiled(cost, width)


def _compiled(cost: StepCost, width: float) -> StepFunction:
    power, root = cost.exponent, 1.0 / cost.exponent
    of_tokens, attention = _of_tokens(cost), _attention(cost, width)
    head_read, head_arithmetic = cost.head_read_s**power, cost.head_arithmetic_s
    has_state = bool(cost.state_s or cost.state_arithmetic_s)
    after, sequence, hop = cost.host_s + cost.hop_s, cost.sequence_s, cost.hop_token_s
    launched = [(cost.launch_s * share) ** LAUNCH_EXPONENT for share in (cost.captured_launches, 1.0)]

    def step(decodes: float, context_sum: float, prompt: float, pairs: float, sampled: float) -> float:
        tokens = decodes * width + prompt
        device: float = (
            of_tokens(tokens)
            + (head_read + (head_arithmetic * sampled) ** power) ** root
            + attention(decodes, context_sum, prompt, pairs)
        )
        if has_state:
            device += roofline_s(cost.state_s * decodes, cost.state_arithmetic_s * tokens, power)
        if prompt > 0 or not cost.captured:
            host = launched[tokens > cost.captured_tokens]
            device = (device**LAUNCH_EXPONENT + host) ** (1.0 / LAUNCH_EXPONENT)
        return float(device + after + sequence * decodes + hop * tokens)

    return step


def _of_tokens(cost: StepCost) -> TokenFunction:
    """What depends on the tokens of a step alone: weights, experts, activations, unpacking, messages."""
    power, root = cost.exponent, 1.0 / cost.exponent
    linear_read, linear_arithmetic = cost.linear_read_s**power, cost.linear_arithmetic_s
    fixed, each = cost.kernels_s, cost.elementwise_s
    messages = [_message(item) for item in cost.collectives if item.table is not None and item.count]

    def seconds(tokens: float) -> float:
        found: float = (linear_read + (linear_arithmetic * tokens) ** power) ** root + fixed + each * tokens
        for expert in cost.experts:
            share = touched_share(expert.experts, expert.experts_per_token, tokens * expert.token_ranks)
            found += roofline_s(expert.read_s * share, expert.arithmetic_s * tokens, power)
        if tokens >= cost.unpack_tokens:
            found += cost.unpack_s
        for message in messages:
            found += message(tokens)
        return found

    return seconds


def _message(item: CollectiveCost) -> TokenFunction:
    def seconds(tokens: float) -> float:
        size = max(tokens * item.bytes_per_token, 1.0)
        assert item.table is not None
        return float(item.count * interpolated_s(size, item.table) * collective_scale(item, size))

    return seconds


def _attention(cost: StepCost, width: float) -> Callable[[float, float, float, float], float]:
    """Decode attention and prefill attention of every group of layers."""
    power, root = cost.exponent, 1.0 / cost.exponent
    groups = [
        (
            math.inf if item.window is None else item.window,
            item.read_s,
            # of one cached token: its reading beside its arithmetic
            (item.read_s**power + (item.decode_arithmetic_s * width) ** power) ** root,
            item.prefill_arithmetic_s,
        )
        for item in cost.attention
    ]

    def seconds(decodes: float, context_sum: float, prompt: float, pairs: float) -> float:
        found = 0.0
        for window, read, decode, prefill in groups:
            found += decode * (context_sum if window == math.inf else min(context_sum, decodes * window))
            if prompt > 0:
                earlier = pairs / max(prompt, 1.0) - prompt / 2.0
                seen = min(earlier, window) if earlier > 0.0 else 0.0
                computed = prefill * (pairs if window == math.inf else min(pairs, prompt * window))
                found += ((read * seen) ** power + computed**power) ** root
        return found

    return seconds


def _numbers(cost: StepCost) -> bool:
    """Whether no coefficient is an array."""
    named: list[Any] = [value for value in _values(cost) if not isinstance(value, tuple)]
    for group in (*cost.experts, *cost.attention):
        named += _values(group)
    for item in cost.collectives:
        named += [item.count, item.bytes_per_token, item.scale, item.scale_large]
        named += [] if item.table is None else item.table.log_s
    return all(value is None or isinstance(value, (int, float)) for value in named)


def _values(item: Any) -> list[Any]:
    return [getattr(item, name) for name in item.__dataclass_fields__]
