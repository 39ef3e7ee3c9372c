"""A configured plan with one thing changed, to be evaluated again."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.plan import Plan
from planner.domain.workload import Length, RequestClass


def at_tensor_size(plan: Plan, size: int) -> Plan:
    """The plan over so many tensor-parallel ranks, with the accelerators for them."""
    settings = replace(plan.engine, tensor_parallel_size=size)
    cards = (plan.hardware.cards[0],) * settings.world_size
    return replace(plan, engine=settings, hardware=replace(plan.hardware, cards=cards))


def with_replicas(plan: Plan, number: int) -> Plan:
    """The plan on so many replicas, and no scaling."""
    replicas = replace(plan.hardware.replicas, minimum=number, maximum=number)
    return replace(plan, hardware=replace(plan.hardware, replicas=replicas))


def with_budget(plan: Plan, tokens: int) -> Plan:
    """The plan with so many batched tokens at most."""
    return replace(plan, engine=replace(plan.engine, max_num_batched_tokens=tokens))


def sped_up(plan: Plan, factor: float) -> Plan:
    """The plan on accelerators with more bandwidth and arithmetic, memory as it is."""
    cards = tuple(
        replace(
            card,
            bandwidth_bytes_per_s=card.bandwidth_bytes_per_s * factor,
            arithmetic_flop_per_s={key: value * factor for key, value in card.arithmetic_flop_per_s.items()},
        )
        for card in plan.hardware.cards
    )
    return replace(plan, hardware=replace(plan.hardware, cards=cards))


def with_concurrency(plan: Plan, number: int) -> Plan:
    """The plan under a closed loop of so many."""
    return replace(plan, workload=replace(plan.workload, load=replace(plan.workload.load, concurrency=float(number))))


def shortened(plan: Plan, name: str, factor: float) -> Plan:
    """The plan with every length of `name` (`prompt` or `output`) times a factor, a token at least."""

    def shorter(item: RequestClass) -> RequestClass:
        length: Length = getattr(item, name)
        points = {key: max(value * factor, 1.0) for key, value in length.points.items()}
        cut = replace(length, points=points, values=tuple(max(value * factor, 1.0) for value in length.values))
        return replace(item, prompt=cut) if name == "prompt" else replace(item, output=cut)

    return replace(plan, workload=replace(plan.workload, classes=tuple(map(shorter, plan.workload.classes))))
