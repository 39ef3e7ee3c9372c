"""Speculative decoding: tokens that one verification yields, and when that pays.

A step proposes k tokens and verifies them in one pass of the target. With the exact acceptance rule the
output follows the target's own distribution, so only time changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def tokens_per_step_from_probability(probability: Any, proposed: int) -> Any:
    """Mean tokens a step where each proposed token is accepted with one chance, independently.

    E = 1 + a + a^2 + ... + a^k = (1 - a^(k+1)) / (1 - a)

    probability: a, 0..1. proposed: k. The 1 is the token that the target itself samples; the sum form
    holds at a = 1, where E = k + 1. Source: Leviathan et al., arXiv 2211.17192, equation 1.
    """
    tokens = 1.0 + 0.0 * probability
    for _ in range(proposed):
        tokens = 1.0 + probability * tokens
    return tokens


def tokens_per_step_from_positions(rates: Sequence[float]) -> float:
    """Mean tokens a step from the acceptance rate of each proposed position, as engines log it.

    E = 1 + r_1 + r_2 + ... + r_k

    rates: r_i = accepted at position i / steps, 0..1. vLLM counts a position whenever it was accepted and
    divides by all steps, so r_i = P(at least i accepted) is unconditional, never rises with i, and the mean
    is a plain sum. Rates given that the position before was accepted would be multiplied up first; they are
    not what an engine prints. Source: vLLM `v1/spec_decode/metrics.py` (`num_accepted_tokens_per_pos`).
    """
    return 1.0 + math.fsum(rates)


def speculative_step_s(verify_s: Any, draft_step_s: Any, proposed: Any) -> Any:
    """Time of one speculative step: k passes of the draft, then one verification.

    t = t(B (k+1)) + k t_draft(B)

    verify_s: one target pass over B (k+1) tokens. draft_step_s: one draft pass over B tokens.
    """
    return verify_s + proposed * draft_step_s


def speed_up(tokens_per_step: Any, step_s: Any, verify_s: Any, draft_step_s: Any, proposed: Any) -> Any:
    """Decode rate with speculation over the rate without; below 1 it loses.

    E t(B) / (t(B (k+1)) + k t_draft(B))

    step_s: one target pass over B tokens. With verify_s = step_s and c = draft_step_s / step_s it is
    Leviathan's E / (k c + 1).
    """
    return tokens_per_step * step_s / speculative_step_s(verify_s, draft_step_s, proposed)


def break_even_tokens_per_step(step_s: Any, verify_s: Any, draft_step_s: Any, proposed: Any) -> Any:
    """Mean tokens a step at which speculation neither wins nor loses; above k + 1 it cannot win.

    E = (t(B (k+1)) + k t_draft(B)) / t(B)
    """
    return speculative_step_s(verify_s, draft_step_s, proposed) / step_s


def acceptance_probability(tokens_per_step: float, proposed: int) -> float | None:
    """The one acceptance chance that yields so many tokens a step; None above k + 1.

    Inverts `tokens_per_step_from_probability`, which rises with a, by halving [0, 1] sixty times.
    """
    if tokens_per_step > proposed + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if tokens_per_step_from_probability(middle, proposed) < tokens_per_step:
            low = middle
        else:
            high = middle
    return high
