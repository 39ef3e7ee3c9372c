"""The mixed step of an engine with measured constants, as the splits that the evaluation and the report show."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from planner.domain.evaluation import Split
from planner.domain.plan import Plan
from planner.evaluation.efficiencies import efficiencies_of
from planner.evaluation.ranks import together_of
from planner.physics import serving
from planner.physics.attention import causal_pairs
from planner.physics.serving import Engine, Requests
from planner.physics.step import StepCost, StepTerms, step_terms

NAMES = {"linear_s": "weights_s", "unpack_s": "unpacking_s", "hop_s": "stages_s"}
LEFT_OUT = ("memory_s", "compute_s", "total_s")


def decode_split(cost: StepCost, batch: Any, context: Any, width: float) -> Split:
    """One step of `batch` sequences through all stages, each of `context` cached tokens."""
    groups = max(min(cost.stages, batch), 1.0)
    part = batch / groups
    terms = step_terms(cost, part, part * context, width=width)
    return split_of(terms, serving.decode_step_s(cost, batch, context, width))


def prefill_split(cost: StepCost, requests: Requests, engine: Engine) -> Split:
    """One prompt alone, all of its chunks through all stages."""
    count = serving.chunks(requests.prompt, engine.chunk_tokens)
    pairs = causal_pairs(requests.prompt, requests.cached) / count
    terms = step_terms(cost, 0.0, 0.0, requests.prompt / count, pairs, 1.0 / count)
    return split_of(terms, serving.prefill_s(cost, requests, engine))


def split_of(terms: StepTerms, total_s: float) -> Split:
    """Terms of one stage's step, in the proportion that makes `total_s`: the parts of a Split add up to it.

    What neither reading nor arithmetic hides of the shorter one, small kernels, launches and the host are overhead.
    """
    scale = total_s / terms.total_s
    memory, compute = terms.memory_s * scale, terms.compute_s * scale
    communication = terms.communication_s * scale
    overhead = total_s - max(memory, compute) - communication
    parts = {"communication": communication, "overhead": overhead}
    parts |= {"bandwidth": memory} if memory >= compute else {"compute": compute}
    bound = max(parts, key=lambda name: parts[name])
    found = {field.name: getattr(terms, field.name) * scale for field in fields(terms) if field.name not in LEFT_OUT}
    named = {NAMES.get(name, name): value for name, value in found.items() if value}
    return Split(bound, memory, compute, communication, overhead, {"cache_s": 0.0, "weights_s": 0.0, **named})


def engine_of(plan: Plan, seats: float, prompt: float = 0.0) -> Engine:
    """How the plan's engine runs steps: chunk budget, seats, speculation, what handling a request takes.

    prompt: new tokens of a prompt, which stays whole where prompts are not cut to the budget.
    """
    figure = efficiencies_of(plan)
    speculation = plan.techniques.speculation
    budget = float(plan.engine.max_num_batched_tokens or 8192)
    return Engine(
        chunk_tokens=budget if plan.techniques.chunked_prefill else max(budget, prompt),
        seats=seats,
        width=speculation.proposed + 1.0 if speculation else 1.0,
        tokens_per_step=speculation.tokens_per_step if speculation else 1.0,
        first_token_s=figure("first_token_s"),
        first_token_steps=figure("first_token_steps"),
        stage_overlap=figure("stage_overlap"),
        together=float(together_of(plan)),
    )
