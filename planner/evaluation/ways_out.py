"""What would make an infeasible plan fit: settings, levers, a lighter load, and more accelerators, each alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from planner import levers
from planner.domain.evaluation import Memory
from planner.domain.levers import LEVER_CLASSES, LeverUse
from planner.domain.plan import Plan
from planner.evaluation import Detail
from planner.evaluation.configure import adopted, configure
from planner.evaluation.setting_ways import setting_ways
from planner.evaluation.starting import ledger
from planner.format import count, memory

# Levers that may be tried with no more said than this, and what each lowers.
TRIED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("quantize-kv-cache", {"format": "fp8"}, "cache"),
    ("quantize-weights", {"format": "fp8"}, "weights"),
    ("quantize-weights", {"format": "int4"}, "weights"),
)
MOST_LAYOUTS = 8
"""Layouts of more accelerators that are tried, the smallest first."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """One change that alone makes it fit, in words, with its numbers."""

    text: str
    values: dict[str, Any] = field(default_factory=dict)


def ways_out(
    plan: Plan,
    shipped: Detail,
    concurrency: float | None = None,
    context: float | None = None,
    tensor_sizes: Iterable[int] = (),
) -> tuple[WayOut, ...]:
    """What leaves the output as it is, then levers on what binds, a lighter load, and more accelerators.

    concurrency, context: the largest that fit, as the evaluation found them. tensor_sizes: what the engine takes for
    the model.
    """
    load = tuple(_load(shipped, concurrency, context))
    binding = "cache" if load else "weights"
    return (
        *_preserving(plan),
        *_settings(shipped),
        *_levers(plan, binding),
        *load,
        *_accelerators(plan, shipped, tuple(tensor_sizes)),
    )


def _settings(shipped: Detail) -> Iterator[WayOut]:
    """Engine settings that alone would make it start."""
    for text, changed in setting_ways(shipped.plan):
        yield WayOut(text, {"settings": changed})


def _load(shipped: Detail, concurrency: float | None, context: float | None) -> Iterator[WayOut]:
    declared = shipped.plan.workload.load.concurrency
    if concurrency and declared and concurrency < declared:
        slots = "" if shipped.plan.engine.max_num_seqs is None else " and max_num_seqs"
        yield WayOut(f"concurrency{slots} of {count(concurrency)} at most", {"largest_concurrency": int(concurrency)})
    one = shipped.ledger.refusal_values.get("largest_max_model_len")
    if one and (not context or one > context):
        yield WayOut(f"a max_model_len of {count(one)} at most, one such sequence at a time")
    if context:
        several = f" for the load's {count(declared)} at once" if declared and declared > 1 and one else ""
        yield WayOut(f"a context of {count(context)} tokens at most{several}", {"largest_context": int(context)})


def _preserving(plan: Plan) -> Iterator[WayOut]:
    """Considered output-preserving levers, and speculation switched off, where either makes it fit."""
    for item in plan.levers:
        if item.status == "consider" and item.lever_class == "output-preserving":
            found = _memory(plan, with_lever(plan, item))
            if found.fits:
                yield WayOut(f"{item.title}{_held(plan, found)}", {"lever": item.use})
    without = tuple(use for use in adopted(plan) if use.use != "speculative-decoding")
    if len(without) < len(adopted(plan)):
        found = _memory(plan, without)
        if found.fits:
            yield WayOut(f"no speculative-decoding{_held(plan, found)}", {"without": "speculative-decoding"})


def _memory(plan: Plan, uses: tuple[LeverUse, ...]) -> Memory:
    return ledger(configure(plan, uses)).memory


def _held(plan: Plan, found: Memory) -> str:
    """What of the load is held at once, where it is not all of it."""
    load, held = plan.workload.load.concurrency, found.max_concurrency
    if not load or held is None or found.free_bytes is None or found.free_bytes >= 0:
        return ""
    here = load / max(1, plan.hardware.replicas.minimum)
    return f" (holds {held:.3g} of the {here:g} sequences at once)" if held < here else ""


def with_lever(plan: Plan, item: LeverUse) -> tuple[LeverUse, ...]:
    """What is adopted and one lever more, in the planner's own order."""
    uses = [use for use in adopted(plan) if use.use != item.use or use.use == "change"]
    return tuple(
        sorted((*uses, item), key=lambda use: (LEVER_CLASSES.index(use.lever_class), levers.get(use.use).ORDER))
    )


def _levers(plan: Plan, binding: str) -> Iterator[WayOut]:
    """Levers on what binds first, then on the other; the first that is enough."""
    rejected = {item.use for item in plan.levers if item.status == "reject"}
    for use, parameters, _ in sorted(TRIED, key=lambda item: item[2] != binding):
        module = levers.get(use)
        item = LeverUse(use, module.CLASS, parameters=parameters)
        if use in rejected or module.applies(configure(plan, adopted(plan)), item):
            continue
        found = _memory(plan, with_lever(plan, item))
        if found.fits:
            needs = memory(found.weights_bytes + (found.kv_cache_bytes or 0.0))
            yield WayOut(
                f"{use} to {parameters['format']} ({needs} of weights and cache; changes the output)"
                f"{_held(plan, found)}",
                {"lever": use, **parameters},
            )
            return


def _accelerators(plan: Plan, shipped: Detail, tensor_sizes: tuple[int, ...]) -> Iterator[WayOut]:
    """The fewest accelerators of this kind: larger tensor-parallel sizes, and more pipeline stages of today's size."""
    if any(item.id != plan.hardware.cards[0].id for item in plan.hardware.cards):
        return
    for layout, bigger in list(_layouts(plan, shipped, tensor_sizes))[:MOST_LAYOUTS]:
        found = _memory(bigger, adopted(bigger))
        if found.fits:
            total = bigger.hardware.count
            said = ", ".join(f"{key} {value}" for key, value in layout.items())
            text = f"{total} accelerators" + (f" ({said})" if said else "") + _held(bigger, found)
            yield WayOut(text, {"fewest_accelerators": total, "layout": layout})
            return


def _layouts(plan: Plan, shipped: Detail, tensor_sizes: tuple[int, ...]) -> Iterator[tuple[dict[str, int], Plan]]:
    """(settings, plan) on more accelerators, the fewest first, tensor parallelism before stages."""
    engine, card = shipped.plan.engine, plan.hardware.cards[0]
    if engine.name == "llama-cpp":
        for total in range(plan.hardware.count + 1, plan.hardware.count + MOST_LAYOUTS + 1):
            yield {}, replace(plan, hardware=replace(plan.hardware, cards=(card,) * total), variants={})
        return
    now, stages = engine.tensor_parallel_size, engine.pipeline_parallel_size
    sizes = tensor_sizes or tuple(now * 2**power for power in range(1, 7))
    wider = [(size, stages) for size in sizes if size > now]
    deeper = [(now, stages * more) for more in (2, 3, 4) if stages * more <= plan.model.layers]
    for tensor, pipeline in sorted((*wider, *deeper), key=lambda item: (item[0] * item[1], item[1])):
        layout = {"tensor_parallel_size": tensor, "pipeline_parallel_size": pipeline}
        settings = replace(plan.engine, tensor_parallel_size=tensor, pipeline_parallel_size=pipeline)
        hardware = replace(plan.hardware, cards=(card,) * settings.world_size)
        said = {key: value for key, value in layout.items() if value != getattr(engine, key)}
        yield said, replace(plan, engine=settings, hardware=hardware, variants={})
