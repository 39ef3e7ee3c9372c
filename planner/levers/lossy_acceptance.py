"""Lossy acceptance: speculation accepts proposed tokens that the model would merely find plausible.

Typical acceptance and relaxed thresholds keep more of each proposal than the exact rule does. It moves bandwidth: more
tokens for one read of the weights. It is a setting of speculative decoding, and takes the higher acceptance in the same
three forms.

It spends the guarantee: answers no longer follow the model's own distribution, and a weaker drafter writes a part of
them.

It does nothing without speculative decoding, or where its acceptance is no higher than that of the exact rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext, _acceptance

NAME = "lossy-acceptance"
CLASS: LeverClass = "output-changing"
ORDER = 150
REDUCES: tuple[str, ...] = ("bandwidth",)
EVALUATE: tuple[tuple[str, str], ...] = (
    ("task", "The deployment's own tasks against the exact rule: a non-inferior result."),
    ("long-form", "Long answers, where the drafter's own words add up."),
    ("acceptance", "Mean tokens a step on the deployment's own traffic with the lossy rule."),
)
PROPERTIES: dict[str, Any] = dict(_acceptance.PROPERTIES)
REQUIRED: tuple[str, ...] = ()
EXAMPLE = """\
- use: lossy-acceptance
  acceptance_length: 3.4
"""
INTERACTS: tuple[tuple[str, str], ...] = (
    ("quantize-weights", "the declared acceptance belongs to other weights: measure it on the quantised ones"),
)


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    for fault in _acceptance.form_faults(parameters):
        context.fault(*fault)
    return _acceptance.read(parameters)


def applies(plan: Plan, lever: LeverUse) -> str:
    speculation = plan.techniques.speculation
    if speculation is None:
        return "speculative decoding is off: there is nothing to accept"
    for _, message, _ in _acceptance.length_faults(lever.parameters, speculation.proposed):
        return message
    tokens = _acceptance.tokens_per_step(lever.parameters, speculation.proposed)
    if tokens <= speculation.tokens_per_step:
        return f"{tokens:.2f} tokens a step are no more than the exact rule's {speculation.tokens_per_step:.2f}"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    speculation = plan.techniques.speculation
    if speculation is None:
        return plan
    tokens = _acceptance.tokens_per_step(lever.parameters, speculation.proposed)
    lossy = replace(speculation, tokens_per_step=tokens, lossy=True)
    return replace(plan, techniques=replace(plan.techniques, speculation=lossy))
