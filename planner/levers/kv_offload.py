"""KV offload: cache blocks that do not fit on the accelerator are kept in host memory and fetched when needed.

It moves cache memory (more sequences, or more prefixes, than the accelerator holds) and arithmetic (a block that is
fetched need not be computed again). What it uses is `hardware.host`: memory, its bandwidth and the link.

It spends the link: restoring x tokens takes x bytes-per-token / link, against recomputing them. Where the link is
slower than the arithmetic it only adds latency.

It does nothing where no host memory or link is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.domain.levers import LeverClass, LeverUse
from planner.domain.plan import Plan
from planner.levers import LeverContext

NAME = "kv-offload"
CLASS: LeverClass = "output-preserving"
ORDER = 70
REDUCES: tuple[str, ...] = ("cache memory", "arithmetic")
EVALUATE: tuple[tuple[str, str], ...] = (
    ("equality", "Greedy answers to fixed prompts whose cache was offloaded and fetched again."),
    ("hit-rate", "The share of prompt tokens fetched from host memory, on the deployment's own traffic."),
    ("latency", "Time to first token of a fetched prompt, while the link is loaded."),
)
PROPERTIES: dict[str, Any] = {}
REQUIRED: tuple[str, ...] = ()
EXAMPLE = "- use: kv-offload\n"
PENDING = "KV offload is evaluated with the traffic simulation; no figure changes yet"
INTERACTS: tuple[tuple[str, str], ...] = ()


def bind(parameters: Mapping[str, Any], context: LeverContext) -> Mapping[str, Any]:
    return {}


def applies(plan: Plan, lever: LeverUse) -> str:
    host = plan.hardware.host
    if not host.memory_bytes:
        return "no host memory is declared (`hardware: {host: {memory: …}}`)"
    if not host.link_bytes_per_s:
        return "no link to the host is declared (`hardware: {host: {link: …}}`)"
    return ""


def apply(plan: Plan, lever: LeverUse) -> Plan:
    host = plan.hardware.host
    record = {"memory_bytes": host.memory_bytes, "link_bytes_per_s": host.link_bytes_per_s}
    return replace(plan, techniques=replace(plan.techniques, kv_offload=record))
