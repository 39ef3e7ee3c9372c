"""Admission policy: when a request may start, and what happens to one that may not.

`reserve-maximum` admits a request when its promised maximum fits: no preemption, fewer seats. `on-demand` admits it by
its current length: more seats, and a preempted request is computed again. `max_queued_requests` and `queue_timeout`
turn requests away instead of letting them wait. It moves cache memory: what is reserved for tokens that may never come.

It spends either seats or repeated prefills, and, with a limited queue, rejected requests, which count against
`rejected_requests`.

It does nothing where it repeats what is in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner import engines, units
from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.domain.workload import Queue
from planner.levers import LeverContext
from planner.levers._engine_keys import set_by_lever

NAME = "admission-policy"
CLASS: LeverClass = "output-preserving"
ORDER = 90
REDUCES: tuple[str, ...] = ("cache memory",)
EVALUATE: tuple[tuple[str, str], ...] = (
    ("latency", "Preemptions, rejected requests and the 99th percentile of time to first token at the declared peak."),
)
PROPERTIES: dict[str, Any] = {
    "policy": {
        "type": "string",
        "enum": ["reserve-maximum", "on-demand"],
        "description": "Admit by the promised maximum, or by the current length with preemption.",
    },
    "max_queued_requests": {
        "$ref": "#/$defs/whole_number",
        "description": "Requests that may wait in one replica; the next one is rejected.",
    },
    "queue_timeout": {
        "$ref": "#/$defs/duration",
        "description": "A request that has waited so long is rejected.",
    },
}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = """\
- use: admission-policy
  policy: reserve-maximum
  max_queued_requests: 64
  queue_timeout: 10 s
"""
SIMULATED = True
INTERACTS: tuple[tuple[str, str], ...] = ()


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    """policy, max_queued_requests, queue_timeout_s: those that are declared."""
    if not parameters:
        context.fault("", "admission-policy sets nothing", f"Give one of {', '.join(PROPERTIES)}.")
    found: dict[str, Any] = {}
    if "policy" in parameters:
        found["policy"] = parameters["policy"]
    if "max_queued_requests" in parameters:
        found["max_queued_requests"] = int(parameters["max_queued_requests"])
    if "queue_timeout" in parameters:
        found["queue_timeout_s"] = units.si(parameters["queue_timeout"], "time")
    return found


def applies(plan: Plan, lever: LeverUse) -> str:
    in_force = plan.engine.admission or engines.get(plan.engine.name).with_defaults(plan).admission
    if set(lever.parameters) == {"policy"} and lever.parameters["policy"] == in_force:
        return f"{in_force} is in force already"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    """The policy as an engine key, the limits as the workload's queue: a shorter one that is declared there stays."""
    policy = lever.parameters.get("policy")
    if policy is not None:
        plan = replace(plan, engine=set_by_lever(plan.engine, admission=policy))
    declared = plan.workload.queue or Queue()
    waiting = lever.parameters.get("max_queued_requests")
    queue = Queue(
        _less(
            None if waiting is None else max(waiting // plan.engine.data_parallel_size, min(waiting, 1)),
            declared.requests,
        ),
        _less(lever.parameters.get("queue_timeout_s"), declared.timeout_s),
    )
    return plan if queue == declared else replace(plan, workload=replace(plan.workload, queue=queue))


def _less(own: Any, declared: Any) -> Any:
    found = [value for value in (own, declared) if value is not None]
    return min(found) if found else None
