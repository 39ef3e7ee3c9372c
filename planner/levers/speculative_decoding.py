"""Speculative decoding: something cheap proposes k tokens, the model verifies them in one pass.

With the exact acceptance rule the answer follows the model's own distribution, token for token; only time changes.
It moves bandwidth: one read of the weights yields several tokens. How many is `acceptance_length` (the engine's log),
`acceptance_per_position` (the same log, by position), `measured_acceptance` (the catalogue's, by task) or
`acceptance_probability` a, the textbook's (1 - a^(k+1)) / (1 - a). It is a property of model, drafter and traffic, and
none is assumed.

It spends arithmetic (k + 1 tokens verified for each sequence), the drafter's time, its weights and its cache. So it
pays at small batches and loses at large ones, where verification is bound by arithmetic:
speed-up = E t(B) / (t(B (k+1)) + k t_draft(B)).

Methods: `draft_model` (a smaller model with the same vocabulary), `eagle` and `eagle3` (a one-layer drafter; without
`draft` it is taken to be one layer of the target), `mtp` (the model's own prediction layers), `ngram` (the prompt
itself; no drafter).

It does nothing where the drafter is not smaller than the target, where vocabularies differ, where the model has no
prediction layers for `mtp`, and where no more than one token a step is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain.levers import LeverClass, LeverUse, Speculation
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.levers import LeverContext, _acceptance, _measured
from planner.levers._drafter import one_layer_drafter
from planner.levers._formats import model_of

NAME = "speculative-decoding"
CLASS: LeverClass = "output-preserving"
ORDER = 60
REDUCES: tuple[str, ...] = ("bandwidth",)
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts with and without speculation."),
    ("acceptance", "Mean tokens a step on the deployment's own traffic, at this num_speculative_tokens."),
    ("latency", "Time between tokens at the planned batch with and without speculation: at large batches it can lose."),
)
METHODS = ("draft_model", "eagle", "eagle3", "mtp", "ngram")
PROPERTIES: dict[str, Any] = {
    "method": {"type": "string", "enum": list(METHODS), "description": "Who proposes tokens."},
    "draft": {
        "$ref": "#/$defs/model",
        "description": "The drafter. `draft_model` needs one; `mtp` and `ngram` have none.",
    },
    "num_speculative_tokens": {
        "type": "integer",
        "quantity": "count",
        "minimum": 1,
        "maximum": 64,
        "description": "Tokens proposed a step: k.",
    },
    **_acceptance.PROPERTIES,
    "measured_acceptance": _measured.PROPERTY,
}
REQUIRED: tuple[str, ...] = ("method", "num_speculative_tokens")
EXAMPLE = """\
- use: speculative-decoding
  method: draft_model
  draft: {ref: meta-llama/Llama-3.2-1B-Instruct}
  num_speculative_tokens: 4
  acceptance_length: 2.77
"""
INTERACTS: tuple[tuple[str, str], ...] = (
    ("quantize-weights", "the declared acceptance belongs to other weights: measure it on the quantised ones"),
    ("quantize-kv-cache", "the declared acceptance belongs to a cache in 16 bits: measure it on the quantised one"),
    ("lossy-acceptance", "the lossy rule replaces the exact one: the output is no longer preserved"),
)


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    """method, proposed, draft (a Model or None), draft_weights_format, and one of the acceptance forms."""
    method = parameters["method"]
    proposed = int(parameters["num_speculative_tokens"])
    acceptance = _acceptance.read(parameters)
    faults = [
        *_acceptance.form_faults(parameters, "measured_acceptance"),
        *_acceptance.length_faults(acceptance, proposed),
    ]
    if "measured_acceptance" in parameters and not faults:
        acceptance, faults = _measured.read(parameters["measured_acceptance"], method, proposed, context.acceptance())
    for fault in faults:
        context.fault(*fault)
    draft = parameters.get("draft")
    if method == "draft_model" and draft is None:
        context.fault("", "method draft_model names no draft", "Add `draft: {ref: …}`, a smaller model.")
    if method in ("mtp", "ngram") and draft is not None:
        context.fault("draft", f"method {method} has no draft model", "Remove `draft`, or use method draft_model.")
    return {
        "method": method,
        "proposed": proposed,
        "draft": model_of(draft, "draft", context) if draft is not None else None,
        "draft_weights_format": draft.get("weights") if draft is not None else None,
        **acceptance,
    }


def applies(plan: Plan, lever: LeverUse) -> str:
    parameters = lever.parameters
    if parameters["method"] == "mtp" and not plan.model.prediction_layers:
        return f"{plan.model.name} has no multi-token-prediction layers"
    if _acceptance.tokens_per_step(parameters, parameters["proposed"]) <= 1:
        return "no proposed token is accepted: a step still yields one token"
    draft = parameters["draft"]
    return _unfit(draft, plan.model, parameters["method"]) if draft is not None else ""


def _unfit(draft: Model, target: Model, method: str) -> str:
    if draft.active_parameters >= target.active_parameters:
        return (
            f"the draft {draft.name} computes {draft.active_parameters / 1e9:,.2f} billion parameters a token, "
            f"the target {target.active_parameters / 1e9:,.2f}: a draft must be smaller (are they swapped?)"
        )
    known = draft.vocabulary and target.vocabulary
    if method == "draft_model" and known and draft.vocabulary != target.vocabulary:
        return f"vocabularies differ: draft {draft.vocabulary:,}, target {target.vocabulary:,}"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    parameters = lever.parameters
    method, draft = parameters["method"], parameters["draft"]
    assumptions = (*plan.assumptions, *((parameters["measured"],) if "measured" in parameters else ()))
    if draft is None and method in ("eagle", "eagle3"):
        draft = one_layer_drafter(plan.model)
        assumptions = (*assumptions, f"the {method} drafter is charged as one layer of the target and its head")
    speculation = Speculation(
        method=method,
        proposed=parameters["proposed"],
        tokens_per_step=_acceptance.tokens_per_step(parameters, parameters["proposed"]),
        draft=draft,
        draft_weights_format=parameters["draft_weights_format"],
    )
    return replace(plan, techniques=replace(plan.techniques, speculation=speculation), assumptions=assumptions)
