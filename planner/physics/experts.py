"""Which experts of a mixture a step touches, and what it reads of them."""

from __future__ import annotations

from typing import Any

from planner.physics import elementwise


def touched_share(experts: Any, experts_per_token: Any, tokens: Any) -> Any:
    """Expected share of the experts of a layer that `tokens` touch: 1 - (1 - k/E)^tokens.

    experts: E of the whole layer. experts_per_token: k. Uniform routing; a router that prefers some experts
    touches fewer. 128 experts of which 8: 8 tokens touch 0.40 of them, 64 tokens 0.98. Source: coupon
    counting; time grows linearly with it in the measured MoE layer of casys-kaist/LLMServingSim@5daddb2.
    """
    return 1.0 - elementwise.power(1.0 - experts_per_token / experts, tokens)


def dispatched_copies(ranks: Any, experts_per_token: Any) -> Any:
    """Expected other ranks that a token is sent to: (G - 1) (1 - (1 - 1/G)^k).

    ranks: G, over which the experts are spread. experts_per_token: k. A rank that holds several of a token's
    experts gets it once. Source: the dispatch of deepseek-ai/DeepEP, counted.
    """
    return (ranks - 1.0) * (1.0 - elementwise.power(1.0 - 1.0 / ranks, experts_per_token))
