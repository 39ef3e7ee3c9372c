"""Change: the general lever, an overlay on the spec, merged as `extends` merges.

It carries what needs no lever of its own: other parallel sizes and limits (`engine`), another model with fewer KV
heads, latent attention, experts or fewer parameters (`model`), shorter lengths and lower load (`workload`), other
limits (`objectives`), more or other accelerators (`hardware`). Which of the four costs it moves depends on what it
sets.

Its class is that of the section that it sets, the furthest reaching of several: `engine` preserves the output,
`model` changes it, `workload`, `objectives` and `hardware` change the requirement. What it spends follows from that:
nothing but effort, the answers, or what was asked for.

It does nothing where it sets what the spec says already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext
from planner.levers._overlay import overlay_class

NAME = "change"
# Of an overlay on the model; `lever_class` gives that of any other.
CLASS: LeverClass = "output-changing"
ORDER = 120
REDUCES: tuple[str, ...] = ()
EVALUATE: tuple[tuple[str, str], ...] = (
    ("task", "The deployment's own tasks against the model of the spec: a non-inferior result."),
    ("long-form", "Long answers against the model of the spec."),
)
PROPERTIES: dict[str, Any] = {
    "set": {"$ref": "#/$defs/overlay", "description": "Sections of the spec, merged over it."},
}
REQUIRED: tuple[str, ...] = ("name", "set")
EXAMPLE = """\
- use: change
  name: two-way-tensor-parallel
  set: {engine: {tensor_parallel_size: 2}}
"""
INTERACTS: tuple[tuple[str, str], ...] = ()


def lever_class(set_mapping: Mapping[str, Any]) -> LeverClass:
    """The class of one overlay."""
    return overlay_class(set_mapping)


def evaluate(of_class: LeverClass) -> tuple[tuple[str, str], ...]:
    """The obligations of a change of one class: only another model has other answers to evaluate."""
    if of_class == "output-changing":
        return EVALUATE
    if of_class == "requirement-changing":
        return (("requirement", "Whoever asked for the deployment agrees to what is asked of it now."),)
    return (("equality", "Greedy answers to fixed prompts with the settings before and after."),)


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    """The overlay as written: it is merged into the document, which is bound again as a whole."""
    return {"set": parameters["set"]}


def applies(plan: Plan, lever: LeverUse) -> str:
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    """The plan itself: what an overlay does is in `Plan.variants`, bound from the merged document."""
    return plan
