"""Keys that say nothing without another one, or beside it; and counts that leave nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items, section, whole
from planner.source.document import NodePath


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    engine = section(data, "engine")
    if "max_lora_rank" in engine and "max_loras" not in engine:
        message = "`max_lora_rank` means nothing without `max_loras`: the engine serves no adapter"
        hint = "Add max_loras, the adapters in one batch, or remove max_lora_rank."
        yield Problem("misplaced-key", ("engine", "max_lora_rank"), message, hint, at_key=True)
    yield from _update(section(data, "hardware", "kubernetes"))
    yield from _lost(data)


def _update(pods: Mapping[str, Any]) -> Iterator[Problem]:
    """Of a rolling update: with Recreate every pod goes first; and one of the two must let a pod move."""
    path: NodePath = ("hardware", "kubernetes")
    rolling = ("max_surge", "max_unavailable")
    if pods.get("strategy") == "Recreate":
        for key in rolling:
            if key in pods:
                message = f"`{key}` belongs to the strategy RollingUpdate, and this one is Recreate"
                yield Problem("misplaced-key", (*path, key), message, f"Remove `{key}`.", at_key=True)
    elif all(type(pods.get(key)) is int and pods[key] == 0 for key in rolling):
        message = "max_surge and max_unavailable are both 0: no pod may come or go, and Kubernetes refuses it"
        yield Problem("out-of-range", (*path, "max_unavailable"), message, "Raise one of the two to 1.")


def _lost(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Objectives hold with replicas lost: one is left to serve."""
    declared = section(data, "hardware").get("replicas", 1)
    replicas = whole(declared.get("min") if isinstance(declared, Mapping) else declared)
    places: list[tuple[NodePath, Mapping[str, Any]]] = [(("objectives",), section(data, "objectives"))]
    for index, item in items(data, "workload", "classes"):
        places.append((("workload", "classes", index, "objectives"), section(item, "objectives")))
    for path, objectives in places:
        down = whole(objectives.get("replicas_down"))
        if down is not None and replicas is not None and down >= replicas:
            message = f"replicas_down is {down:,} of {replicas:,} replicas: none is left to serve"
            hint = f"Declare hardware.replicas of at least {down + 1:,}."
            yield Problem("out-of-range", (*path, "replicas_down"), message, hint, values={"limit": replicas - 1})
