"""What would make an infeasible plan fit: the largest load, the fewest accelerators, each lever alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from planner import levers
from planner.domain.levers import LEVER_CLASSES, LeverUse
from planner.domain.plan import Plan
from planner.evaluation import Detail
from planner.evaluation import detail as evaluated
from planner.evaluation.configure import adopted, configure
from planner.evaluation.setting_ways import setting_ways
from planner.format import count, memory

# Levers that may be tried with no more said than this, and what each lowers.
TRIED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("quantize-kv-cache", {"format": "fp8"}, "cache"),
    ("quantize-weights", {"format": "fp8"}, "weights"),
    ("quantize-weights", {"format": "int4"}, "weights"),
)


@dataclass(frozen=True, slots=True)
class WayOut:
    """One change that alone makes it fit, in words, with its numbers."""

    text: str
    values: dict[str, Any] = field(default_factory=dict)


def holds(found: Detail) -> bool:
    """Whether the declared load fits: what the engine needs to start, and the cache of the load."""
    memory_ = found.evaluation.memory
    enough = memory_.free_bytes is None or memory_.free_bytes >= 0
    return memory_.fits and enough


def ways_out(
    plan: Plan, shipped: Detail, concurrency: float | None = None, context: float | None = None
) -> tuple[WayOut, ...]:
    """What leaves the output as it is, then levers on what binds, a lighter load, and more accelerators.

    concurrency, context: the largest that fit, as the evaluation found them.
    """
    load = tuple(_load(shipped, concurrency, context))
    binding = "cache" if load else "weights"
    return (*_preserving(plan), *_settings(shipped), *_levers(plan, binding), *load, *_accelerators(plan, shipped))


def _settings(shipped: Detail) -> Iterator[WayOut]:
    """Engine settings that alone would make it start."""
    for text, changed in setting_ways(shipped.plan):
        yield WayOut(text, {"settings": changed})


def _load(shipped: Detail, concurrency: float | None, context: float | None) -> Iterator[WayOut]:
    declared = shipped.plan.workload.load.concurrency
    if concurrency and declared and concurrency < declared:
        slots = "" if shipped.plan.engine.max_num_seqs is None else " and max_num_seqs"
        yield WayOut(f"concurrency{slots} of {count(concurrency)} at most", {"largest_concurrency": int(concurrency)})
    if context:
        yield WayOut(f"a context of {count(context)} tokens at most", {"largest_context": int(context)})


def _preserving(plan: Plan) -> Iterator[WayOut]:
    """Considered output-preserving levers that would make it fit."""
    for item in plan.levers:
        if item.status == "consider" and item.lever_class == "output-preserving":
            found = evaluated(configure(plan, _with(plan, item)))
            if holds(found):
                yield WayOut(item.title, {"lever": item.use})


def _with(plan: Plan, item: LeverUse) -> tuple[LeverUse, ...]:
    uses = [use for use in adopted(plan) if use.use != item.use or use.use == "change"]
    return tuple(
        sorted((*uses, item), key=lambda use: (LEVER_CLASSES.index(use.lever_class), levers.get(use.use).ORDER))
    )


def _levers(plan: Plan, binding: str) -> Iterator[WayOut]:
    """Levers on what binds first, then on the other."""
    rejected = {item.use for item in plan.levers if item.status == "reject"}
    for use, parameters, _ in sorted(TRIED, key=lambda item: item[2] != binding):
        module = levers.get(use)
        item = LeverUse(use, module.CLASS, parameters=parameters)
        if use in rejected or module.applies(configure(plan, adopted(plan)), item):
            continue
        found = evaluated(configure(plan, _with(plan, item)))
        if holds(found):
            needs = memory(found.evaluation.memory.weights_bytes + (found.evaluation.memory.kv_cache_bytes or 0.0))
            yield WayOut(
                f"{use} to {parameters['format']} ({needs} of weights and cache; changes the output)",
                {"lever": use, **parameters},
            )
            return


def _accelerators(plan: Plan, shipped: Detail) -> Iterator[WayOut]:
    """The fewest accelerators of this kind, tensor-parallel sizes doubling from the declared one."""
    engine = shipped.plan.engine
    card = plan.hardware.cards[0]
    if any(item.id != card.id for item in plan.hardware.cards):
        return
    tensor = engine.tensor_parallel_size
    for _ in range(6):
        tensor *= 2
        bigger = _at(plan, tensor, card)
        if bigger is not None and holds(evaluated(configure(bigger, adopted(bigger)))):
            total = bigger.hardware.count
            yield WayOut(f"{total} accelerators (tensor_parallel_size {tensor})", {"fewest_accelerators": total})
            return


def _at(plan: Plan, tensor: int, card: Any) -> Plan | None:
    """The plan on more cards; None where the attention heads do not divide."""
    heads = {mixer.heads for group in plan.model.groups for mixer in group.mixers if mixer.heads}
    if any(value % tensor for value in heads):
        return None
    settings = replace(plan.engine, tensor_parallel_size=tensor)
    hardware = replace(plan.hardware, cards=(card,) * settings.world_size)
    return replace(plan, engine=settings, hardware=hardware, variants={})
