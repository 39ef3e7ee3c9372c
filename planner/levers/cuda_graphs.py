"""CUDA graphs: a decode step is recorded once and launched as a whole.

Without them the host launches every kernel of every layer; at small batches the accelerator waits for it. With
them one launch replays the step. It moves none of the four costs: it lowers the fixed overhead of a step, which
binds small models, small batches and many layers.

It spends memory for the recorded graphs (outside the budget of some engine versions) and start-up time to record
each batch size. Prefills usually run outside the graphs.

It does nothing on the engine `ideal`, which charges no overhead, and on accelerators without such graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext
from planner.levers._engine_keys import switch_on

NAME = "cuda-graphs"
CLASS: LeverClass = "output-preserving"
ORDER = 30
REDUCES: tuple[str, ...] = ()
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts, eager and captured, at batch sizes on and off the captured ones."),
)
PROPERTIES: dict[str, Any] = {}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = "- use: cuda-graphs\n"
INTERACTS: tuple[tuple[str, str], ...] = ()

# CUDA graphs and HIP graphs; an empty vendor is a card declared by figures.
VENDORS_WITH_GRAPHS = frozenset({"", "nvidia", "amd"})


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {}


def applies(plan: Plan, lever: LeverUse) -> str:
    if plan.engine.name == "ideal":
        return "the engine `ideal` charges no launch overhead"
    vendor = plan.hardware.accelerator.vendor
    if vendor.lower() not in VENDORS_WITH_GRAPHS:
        return f"{plan.hardware.accelerator.name} has no CUDA or HIP graphs"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    return switch_on(plan, "cuda_graphs", enforce_eager=False)
