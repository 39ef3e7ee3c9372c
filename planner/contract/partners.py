"""Keys that say nothing without another one, or beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import section
from planner.source.document import NodePath


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    engine = section(data, "engine")
    if "max_lora_rank" in engine and "max_loras" not in engine:
        message = "`max_lora_rank` means nothing without `max_loras`: the engine serves no adapter"
        hint = "Add max_loras, the adapters in one batch, or remove max_lora_rank."
        yield Problem("misplaced-key", ("engine", "max_lora_rank"), message, hint, at_key=True)
    yield from _update(section(data, "hardware", "kubernetes"))


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
