"""The traces that a workload names, each read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.bind.context import Binding
from planner.bind.trace_file import read_trace
from planner.domain.trace import Trace
from planner.source.document import NodePath


def recordings(binding: Binding) -> Mapping[str, Trace]:
    """{reference: its requests}; what cannot be read is a finding of the binding."""
    found: dict[str, Trace] = {}
    failed: set[str] = set()
    for reference, path in _named(binding.section("workload")):
        if reference in found or reference in failed:
            continue
        file = binding.file(reference, path)
        trace, findings = (None, ()) if file is None else read_trace(file, name=reference)
        binding.adopt(findings, path)
        if trace is None:
            failed.add(reference)
        else:
            found[reference] = trace
    return found


def _named(workload: Mapping[str, Any]) -> Iterator[tuple[str, NodePath]]:
    """Every reference to a trace, and where it stands."""
    yield from _of(workload.get("load"), ("workload", "load", "trace"))
    for index, item in enumerate(workload.get("classes") or ()):
        for key in ("load", "prompt_tokens", "output_tokens"):
            yield from _of(item.get(key), ("workload", "classes", index, key, "trace"))


def _of(value: Any, path: NodePath) -> Iterator[tuple[str, NodePath]]:
    if isinstance(value, Mapping) and isinstance(value.get("trace"), str):
        yield value["trace"], path
