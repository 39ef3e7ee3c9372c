"""Whether a plan's calibration holds for it, and what it multiplies where it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from planner.domain.calibration import Calibration, Subject
from planner.domain.model import Model
from planner.domain.plan import Plan
from planner.domain.shards import cache_dtype
from planner.evaluation.configure import shipped

NEIGHBOURLY = frozenset(
    {
        "weights",
        "cache",
        "tensor parallel size",
        "pipeline parallel size",
        "data parallel size",
        "expert parallel size",
        "speculation",
    }
)
"""What a step of the ladder may change of the subject and stay of its family."""
NONE: Mapping[str, float] = {}


def precision_of(model: Model) -> str:
    """The format that holds most of a model's parameters."""
    held: dict[str, int] = {}
    for count, weight in model.weights():
        name = weight.format or model.dtype
        held[name] = held.get(name, 0) + count * weight.parameters
    return max(sorted(held), key=lambda name: held[name])


def subject_of(plan: Plan) -> Subject:
    """What a measurement of this configured plan would be of."""
    engine = plan.engine
    return Subject(
        model=plan.model.name,
        revision=plan.revision,
        weights=precision_of(plan.model),
        cache=cache_dtype(plan.model, plan.cache_format),
        engine=engine.name,
        version=engine.version or "",
        accelerator=plan.hardware.accelerator.id,
        tensor_parallel_size=engine.tensor_parallel_size,
        pipeline_parallel_size=engine.pipeline_parallel_size,
        data_parallel_size=engine.data_parallel_size,
        expert_parallel_size=engine.expert_parallel_size,
        speculation=speculation_of(plan),
    )


def speculation_of(plan: Plan) -> str:
    """As a subject words it: "none", "eagle3, 3 tokens"."""
    found = plan.techniques.speculation
    return f"{found.method}, {found.proposed} tokens" if found is not None else "none"


def judged(plan: Plan) -> Plan:
    """The plan, its calibration marked with what of its subject the shipped configuration is not."""
    if plan.calibration is None:
        return plan
    found = tuple(plan.calibration.subject.differences(subject_of(shipped(plan))))
    known = replace(plan.calibration, stale=found)
    variants = {paths: replace(variant, calibration=known) for paths, variant in plan.variants.items()}
    return replace(plan, calibration=known, variants=variants)


def calibration_of(plan: Plan) -> tuple[Calibration | None, bool]:
    """The calibration that a configured plan may use, and whether it is the very subject (else its family)."""
    known: Calibration | None = plan.calibration
    if known is None or known.stale:
        return None, False
    apart = {what for what, _, _ in known.subject.differences(subject_of(plan))}
    return (known, not apart) if apart <= NEIGHBOURLY else (None, False)


def multipliers_of(plan: Plan) -> Mapping[str, float]:
    """{figure: factor} on the catalogue's efficiencies; {} where nothing was measured, or on another subject."""
    if plan.calibration is None:
        return NONE
    known, _ = calibration_of(plan)
    return known.figures() if known is not None else NONE
