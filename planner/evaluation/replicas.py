"""How many replicas serve: as declared, or as many as scaling settles at for the load.

    requests in one replica = rate / replicas x time in it (Little 1961)     of a closed loop: concurrency / replicas

Scaling settles at the fewest replicas, between `min` and `max`, with no more requests in one than it aims at.
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.domain.accelerator import Replicas
from planner.domain.plan import Plan
from planner.domain.remembering import by_object
from planner.evaluation.latency import operate, seats_of
from planner.evaluation.mix import mix_of, turns_of
from planner.evaluation.operating import MOST_SEATS, Operating
from planner.evaluation.service import Service, service_of

COMFORTABLE = 0.7
"""Of its capacity: where scaling starts another replica, unless the spec says at how many requests."""
SETTLING = ("rate", "concurrency", "sessions", "offline")


def fixed(plan: Plan, replicas: int) -> Plan:
    """The plan with so many replicas, and no scaling."""
    declared = plan.hardware.replicas
    limit = declared.most if declared.scales or declared.limit is not None else None
    found = replace(declared, minimum=replicas, maximum=replicas, limit=limit)
    return replace(plan, hardware=replace(plan.hardware, replicas=found))


def settled(plan: Plan, sequences_that_fit: float | None, *, peak: bool = True) -> Plan:
    """The plan with the replicas that serve its load, at its peak or at its mean rate.

    A recorded load has no one number of them: its run scales.
    """
    declared = plan.hardware.replicas
    if not declared.scales or plan.workload.load.kind not in SETTLING:
        return plan
    service, seats, wanted = _aim(plan, sequences_that_fit)
    load = plan.workload.load if peak else replace(plan.workload.load, peak=1.0)
    asked = replace(plan, workload=replace(plan.workload, load=load))

    def enough(replicas: int) -> bool:
        return _requests_in_one(replace(service, plan=fixed(asked, replicas)), seats) <= wanted * (1.0 + 1e-9)

    low, high = declared.minimum, declared.maximum
    if enough(low):
        return fixed(plan, low)
    while high - low > 1:  # more replicas never hold more requests each
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return fixed(plan, high)


@by_object
def _aim(plan: Plan, sequences_that_fit: float | None) -> tuple[Service, float, float]:
    """Service, seats, and requests in one replica that scaling aims at: the same at the peak and at the mean rate."""
    service, seats = service_of(plan, mix_of(plan)), seats_of(plan, sequences_that_fit)
    return service, seats, target_of(plan, service, seats)


def target_of(plan: Plan, service: Service, seats: float) -> float:
    """Requests in one replica that scaling aims at: as declared, or those at seven tenths of its capacity."""
    declared: Replicas = plan.hardware.replicas
    if declared.target_requests is not None:
        return declared.target_requests
    ranks = plan.engine.data_parallel_size
    most = min(seats, MOST_SEATS)
    rate = COMFORTABLE * ranks / service.request_s(most)
    load = replace(plan.workload.load, kind="rate", rate_per_s=rate / turns_of(plan), peak=1.0)
    alone = fixed(replace(plan, workload=replace(plan.workload, load=load)), 1)
    return max(_requests_in_one(replace(service, plan=alone), seats), 1.0)


def _requests_in_one(service: Service, seats: float) -> float:
    """Running and waiting, in one replica; infinite where its queue grows."""
    plan = service.plan
    load = plan.workload.load
    if load.kind == "concurrency":
        return (load.concurrency or 1.0) / max(1, plan.hardware.replicas.minimum)
    found = operate(service, seats)
    if found.overloaded:
        return math.inf
    return found.rate_per_s * _time_inside(service, found) * plan.engine.data_parallel_size


def _time_inside(service: Service, found: Operating) -> float:
    return found.waiting_s + service.mean_prefill_s + max(service.mix.output - 1.0, 0.0) * found.itl_s
