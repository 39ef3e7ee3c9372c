"""The load, and what goes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items, number, section
from planner.quoting import quoted
from planner.source.document import NodePath

KINDS = ("concurrency", "offline", "rate", "trace", "sessions", "period")
ARRIVING = ("rate", "trace")


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    workload = section(data, "workload")
    if not workload:
        return
    classes = list(items(workload, "classes"))
    yield from _presence(workload, classes)
    yield from _load(section(workload, "load"), ("workload", "load"))
    for index, item in classes:
        yield from _load(section(item, "load"), ("workload", "classes", index, "load"))
        if "load" in item and "share" in item:
            message = "`share` is of the workload's load, but the class has a load of its own"
            path = ("workload", "classes", index, "share")
            yield Problem("conflicting-keys", path, message, "Keep one of `load` and `share`.", at_key=True)
    yield from _sessions(workload, classes)


def _presence(workload: Mapping[str, Any], classes: list[tuple[int, Mapping[str, Any]]]) -> Iterator[Problem]:
    """One load for every class: its own, or the workload's."""
    alone = [item for _, item in classes if "load" not in item]
    if "load" not in workload and alone:
        hint = "One of concurrency, offline, rate, trace, sessions, period; or give every class a load of its own."
        yield Problem("missing-key", ("workload",), "`workload` lacks the key `load`", hint, True, {"key": "load"})
    if "load" in workload and classes and not alone:
        message = "every class has a load of its own, so the workload's load would be a second one"
        yield Problem("conflicting-keys", ("workload", "load"), message, "Remove one of the two.", at_key=True)


def _load(load: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    yield from _peak(load, path)
    yield from _arrivals(load, path)


def _peak(load: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    """`peak` multiplies a rate; the other keys of one kind of load are the schema's to refuse."""
    kind = next((kind for kind in KINDS if kind in load), None)
    if "peak" not in load or kind is None or kind in ARRIVING:
        return
    factor, figure = number(load["peak"]), number(load[kind])
    hint = "Remove it; a peak is of a load by rate or trace."
    if factor is not None and figure is not None and kind in ("concurrency", "sessions"):
        hint = f"Remove it, and write the load that objectives hold at: {kind}: {factor * figure:.15g}."
    message = f"`peak` multiplies the rate of a load by rate or trace, and this one is by `{kind}`"
    yield Problem("misplaced-key", (*path, "peak"), message, hint, at_key=True)


def _arrivals(load: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    process = load.get("process")
    if process == "gamma" and "cv" not in load:
        hint = "The coefficient of variation of the gaps, for example `cv: 2.1`."
        yield Problem("missing-key", path, "the process `gamma` needs the key `cv`", hint, True, {"key": "cv"})
    if "cv" in load and "rate" in load and process != "gamma":
        read = f"the process is {quoted(process)}" if process is not None else "the process is poisson, the default"
        message = f"`cv` belongs to the process `gamma`, but {read}"
        yield Problem("conflicting-keys", (*path, "cv"), message, "Write process: gamma, or remove `cv`.", at_key=True)


def _sessions(workload: Mapping[str, Any], classes: list[tuple[int, Mapping[str, Any]]]) -> Iterator[Problem]:
    common = "sessions" in section(workload, "load")
    for index, item in classes:
        counted = "sessions" in section(item, "load") if "load" in item else common
        if counted and "session" not in item:
            path = ("workload", "classes", index)
            hint = "Describe one: session: {turns: 40, turn_delay: 3 s, context_growth: 2650}."
            message = "the load counts sessions, but the class lacks the key `session`"
            yield Problem("missing-key", path, message, hint, True, {"key": "session"})
