"""Chunked prefill: long prompts are cut to the batched-token budget, and decodes go on beside each piece.

Without it a prompt is one long step, and every running answer waits for it; the activations of that step grow with
the longest prompt. With it no step holds more than `max_num_batched_tokens`. It moves bandwidth a little (one read
of the weights serves decodes and a piece of prefill) and the worst time between tokens a lot; the peak of
activations follows the budget instead of the longest prompt.

It may spend time to first token: every piece reads again the cache of the pieces before it, and pieces below about
512 tokens use the arithmetic less well.

It does nothing where every prompt is within the budget, and on the engine `ideal`, which has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner import engines
from planner.domain.engine import EngineSettings
from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext
from planner.levers._engine_keys import switch_on
from planner.levers._lengths import longest_prompt

NAME = "chunked-prefill"
CLASS: LeverClass = "output-preserving"
ORDER = 40
REDUCES: tuple[str, ...] = ("bandwidth",)
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts longer than the budget, chunked and whole."),
)
PROPERTIES: dict[str, Any] = {}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = "- use: chunked-prefill\n"
INTERACTS: tuple[tuple[str, str], ...] = ()


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {}


def applies(plan: Plan, lever: LeverUse) -> str:
    if plan.engine.name == "ideal":
        return "the engine `ideal` has no budget of batched tokens"
    prompt = longest_prompt(plan)
    budget = _budget(plan)
    if prompt is None:
        return "no class declares a prompt"
    longest = max(prompt, float(plan.engine.max_model_len or plan.model.max_context or 0))
    if budget is not None and longest <= budget:
        return f"the longest sequence, {longest:,.0f} tokens, is within the budget of {budget:,} batched tokens"
    return ""


def _budget(plan: Plan) -> int | None:
    """Batched tokens of a step, declared or by the engine's default once prefills are chunked."""
    engine = engines.get(plan.engine.name)
    if plan.engine.max_num_batched_tokens is not None or engine is None:
        return plan.engine.max_num_batched_tokens
    settings: EngineSettings = engine.with_defaults(switch_on(plan, "chunked_prefill", enable_chunked_prefill=True))
    return settings.max_num_batched_tokens


def apply(plan: Plan, lever: LeverUse) -> Plan:
    return switch_on(plan, "chunked_prefill", enable_chunked_prefill=True)
