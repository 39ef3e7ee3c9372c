"""KV offload: cache blocks of prompts are kept in host memory too, and fetched when the accelerator has dropped them.

It moves arithmetic: a turn of a session, or a prompt with a beginning that has come before, finds its blocks on the
host when others have taken the accelerator's, and need not compute them again. Live sessions that outgrow the cache
are what it is for. What it uses is `hardware.host`: its memory, shared by the ranks of a replica, and the link.

It spends the link: x tokens take x bytes-per-token / link, one request after another, against computing them. Where
the link is slower than the arithmetic it only adds latency: engines fetch what they have.

It does nothing where no host memory or link is declared, where the prefix cache is off, where nothing comes again, and
where everything that does is on the accelerator still.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.domain.workload import RequestClass
from planner.levers import LeverContext

NAME = "kv-offload"
CLASS: LeverClass = "output-preserving"
ORDER = 70
REDUCES: tuple[str, ...] = ("arithmetic",)
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts whose cache was offloaded and fetched again."),
    ("hit-rate", "The share of prompt tokens fetched from host memory, on the deployment's own traffic."),
    ("latency", "Time to first token of a fetched prompt, while the link is loaded."),
)
PROPERTIES: dict[str, Any] = {}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = "- use: kv-offload\n"
SIMULATED = True
INTERACTS: tuple[tuple[str, str], ...] = ()


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {}


def applies(plan: Plan, lever: LeverUse) -> str:
    host = plan.hardware.host
    if not host.memory_bytes:
        return "no host memory is declared (`hardware: {host: {memory: …}}`)"
    if not host.link_bytes_per_s:
        return "no link to the host is declared (`hardware: {host: {link: …}}`)"
    if not plan.techniques.prefix_caching:
        return "the prefix cache is off: nothing looks for blocks that are kept"
    if plan.workload.load.kind != "trace" and not any(_again(item) for item in plan.workload.classes):
        return "no class declares turns of a session or a shared prefix: nothing comes again"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    host = plan.hardware.host
    record = {"memory_bytes": host.memory_bytes, "link_bytes_per_s": host.link_bytes_per_s}
    return replace(plan, techniques=replace(plan.techniques, kv_offload=record))


def _again(item: RequestClass) -> bool:
    if item.session is not None and item.session.turns > 1:
        return True
    return item.prefix is not None and bool(item.prefix.shared_tokens)
