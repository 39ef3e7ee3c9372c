"""Continuous batching: requests join and leave the running batch at every step.

Without it a batch is formed, run until its longest answer ends, and only then replaced: seats stand empty and
new requests wait. With it the batch stays full, so each read of the weights serves as many sequences as there
are. It moves bandwidth: more tokens for one read of the weights.

It may spend memory (the cache of more live sequences) and time between tokens (a fuller batch is a longer step,
and prefills of newcomers run beside decodes).

It does nothing where one request is in the system at a time, without answers of a declared length, and on the engine
`ideal`, whose batch is always full.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext
from planner.levers._engine_keys import switch_on

NAME = "continuous-batching"
CLASS: LeverClass = "output-preserving"
ORDER = 10
REDUCES: tuple[str, ...] = ("bandwidth",)
EVALUATE: tuple[tuple[str, str], ...] = (
    (
        "equality",
        "Greedy answers to fixed prompts, alone and inside a full batch: the same, but for ties of 16-bit arithmetic.",
    ),
)
PROPERTIES: dict[str, Any] = {}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = "- use: continuous-batching\n"
INTERACTS: tuple[tuple[str, str], ...] = ()


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {}


def applies(plan: Plan, lever: LeverUse) -> str:
    if plan.engine.name == "ideal":
        return "the batch of the engine `ideal` is always full"
    if all(item.output is None for item in plan.workload.classes):
        return "no class declares the length of its answers"
    load = plan.workload.load
    if load.kind == "period":
        return "a control loop has one request at a time: nothing joins a running batch"
    concurrency = load.concurrency if load.kind == "concurrency" else None
    if concurrency is not None and concurrency <= plan.hardware.replicas.minimum:
        return f"{concurrency:g} at a time over {plan.hardware.replicas.minimum}: a replica never has two requests"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    return switch_on(plan, "continuous_batching")
