"""Flags in `args` that the planner does model: there they would escape judgement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner import engines, schema_composer
from planner.contract import schemas
from planner.contract.nearest import alias
from planner.contract.problem import Problem
from planner.contract.reading import section
from planner.quoting import quoted


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    engine = section(data, "engine")
    arguments = section(engine, "args")
    if not arguments:
        return
    known = _known(engine.get("name"))
    for flag in arguments:
        key = flag.lstrip("-").replace("-", "_") if isinstance(flag, str) else ""
        meant = key if key in known else alias(key)
        if meant in known:
            message = f"{quoted(flag)} is a flag that the planner models: in `args` it would not be judged"
            hint = f"Write engine.{meant} in place of it."
            yield Problem("modelled-argument", ("engine", "args", flag), message, hint, at_key=True)


def _known(name: Any) -> frozenset[str]:
    module = engines.get(name) if isinstance(name, str) else None
    own = schema_composer.engine_properties(module) if module is not None else {}
    return frozenset((*schemas.engine_keys(), *own)) - {"name", "version", "args"}
