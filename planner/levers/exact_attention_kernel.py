"""Exact attention kernel: scores are computed in tiles on the chip and never stored.

Plain attention writes a score for every pair of tokens: heads x n^2 values, 4.3 GB for 32 heads, 8,192 tokens and
16 bits. A fused kernel (FlashAttention and its kin) computes the same sums tile by tile. It moves bandwidth in
prefill (no scores to write and read) and the memory of activations, which then grows with n and not n^2.

It spends nothing but support: the kernel must exist for the accelerator, the head size and the cache format.
Sums are added in another order, so last bits differ.

It does nothing for models without attention, on the engine `ideal`, which stores no scores, and next to nothing in
decode, where a sequence has one row of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext
from planner.levers._engine_keys import switch_on
from planner.levers._lengths import longest_prompt

NAME = "exact-attention-kernel"
CLASS: LeverClass = "output-preserving"
ORDER = 20
REDUCES: tuple[str, ...] = ("bandwidth",)
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts with and without the kernel, one as long as any declared."),
)
PROPERTIES: dict[str, Any] = {}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = "- use: exact-attention-kernel\n"
INTERACTS: tuple[tuple[str, str], ...] = ()


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {}


def applies(plan: Plan, lever: LeverUse) -> str:
    if plan.engine.name == "ideal":
        return "the engine `ideal` stores no scores"
    if not any(mixer.attends for group in plan.model.groups for mixer in group.mixers):
        return "the model has no attention layers: there are no scores to store"
    if longest_prompt(plan) is None:
        return "no class declares a prompt, and a decode step has one row of scores a sequence"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    return switch_on(plan, "exact_attention_kernel")
