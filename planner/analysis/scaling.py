"""A configured plan with one input multiplied by a factor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from planner.domain.accelerator import Accelerator
from planner.domain.plan import Plan
from planner.domain.workload import Length, RequestClass
from planner.evaluation.pools import everywhere
from planner.format import Dimension


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a plan. present: its value. scale: the plan with it multiplied. path: pointer in the spec."""

    name: str
    dimension: Dimension
    path: str
    present: float
    scale: Callable[[Plan, float], Plan]


def inputs_of(plan: Plan) -> list[Input]:
    """The inputs that the plan has, in the order that the report lists them."""
    load, card = plan.workload.load, plan.hardware.accelerator
    found: list[Input] = []
    if load.concurrency is not None:
        found.append(Input("concurrency", "sequences", "/workload/load/concurrency", load.concurrency, _concurrency))
    if load.rate_per_s is not None:
        found.append(Input("request rate", "requests/s", "/workload/load/rate", load.rate_per_s, _rate))
    classes = plan.workload.classes
    if all(item.prompt is not None for item in classes):
        mean = sum(item.share * item.prompt.mean for item in classes if item.prompt)
        found.append(Input("prompt tokens (mean)", "tokens", "/workload/classes", mean, _prompts))
    if all(item.output is not None for item in classes):
        mean = sum(item.share * item.output.mean for item in classes if item.output)
        found.append(Input("output tokens (mean)", "tokens", "/workload/classes", mean, _outputs))
    if all(item.context_tokens is not None for item in classes):
        longest = max(item.context_tokens or 0.0 for item in classes)
        found.append(Input("context tokens", "tokens", "/workload/classes", longest, _contexts))
    found += [
        Input("memory of an accelerator", "bytes", "/hardware/accelerator", plan.hardware.capacity_bytes, _memory),
        Input(
            "bandwidth of an accelerator", "bytes/s", "/hardware/accelerator", card.bandwidth_bytes_per_s, _bandwidth
        ),
        Input(
            f"arithmetic of an accelerator ({plan.model.dtype})",
            "flop/s",
            "/hardware/accelerator",
            card.arithmetic_flop_per_s.get(plan.model.dtype, max(card.arithmetic_flop_per_s.values(), default=0.0)),
            _arithmetic,
        ),
    ]
    if plan.hardware.price_usd_per_hour:
        found.append(
            Input("price of an accelerator", "usd/hour", "/hardware/price", plan.hardware.price_usd_per_hour, _price)
        )
    return [replace(item, scale=_everywhere(item.scale)) for item in found]


def _everywhere(scale: Callable[[Plan, float], Plan]) -> Callable[[Plan, float], Plan]:
    """In every pool of a plan that has several."""
    return lambda plan, factor: everywhere(plan, lambda one: scale(one, factor))


def _concurrency(plan: Plan, factor: float) -> Plan:
    load = plan.workload.load
    scaled = replace(load, concurrency=(load.concurrency or 1.0) * factor)
    return replace(plan, workload=replace(plan.workload, load=scaled))


def _rate(plan: Plan, factor: float) -> Plan:
    load = plan.workload.load
    scaled = replace(load, rate_per_s=(load.rate_per_s or 0.0) * factor)
    return replace(plan, workload=replace(plan.workload, load=scaled))


def _length(length: Length | None, factor: float) -> Length | None:
    if length is None:
        return None
    points: Mapping[str, float] = {key: value * factor for key, value in length.points.items()}
    return replace(length, points=points)


def _of_classes(plan: Plan, change: Callable[[RequestClass], RequestClass]) -> Plan:
    return replace(plan, workload=replace(plan.workload, classes=tuple(map(change, plan.workload.classes))))


def _prompts(plan: Plan, factor: float) -> Plan:
    return _of_classes(plan, lambda item: replace(item, prompt=_length(item.prompt, factor)))


def _outputs(plan: Plan, factor: float) -> Plan:
    return _of_classes(plan, lambda item: replace(item, output=_length(item.output, factor)))


def _contexts(plan: Plan, factor: float) -> Plan:
    return _of_classes(plan, lambda item: replace(item, context_tokens=(item.context_tokens or 0.0) * factor))


def _cards(plan: Plan, change: Callable[[Accelerator], Accelerator]) -> Plan:
    return replace(plan, hardware=replace(plan.hardware, cards=tuple(map(change, plan.hardware.cards))))


def _memory(plan: Plan, factor: float) -> Plan:
    hardware = plan.hardware
    if hardware.usable_bytes is not None:
        return replace(plan, hardware=replace(hardware, usable_bytes=hardware.usable_bytes * factor))
    return _cards(plan, lambda card: replace(card, capacity_bytes=card.capacity_bytes * factor))


def _bandwidth(plan: Plan, factor: float) -> Plan:
    return _cards(plan, lambda card: replace(card, bandwidth_bytes_per_s=card.bandwidth_bytes_per_s * factor))


def _arithmetic(plan: Plan, factor: float) -> Plan:
    def faster(card: Accelerator) -> Accelerator:
        return replace(
            card, arithmetic_flop_per_s={key: value * factor for key, value in card.arithmetic_flop_per_s.items()}
        )

    return _cards(plan, faster)


def _price(plan: Plan, factor: float) -> Plan:
    price = plan.hardware.price_usd_per_hour or 0.0
    return replace(plan, hardware=replace(plan.hardware, price_usd_per_hour=price * factor))
