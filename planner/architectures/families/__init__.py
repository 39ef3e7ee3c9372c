"""Families of model configs, one module each.

A family module has a docstring (what sets the family apart) and:

MODEL_TYPES: tuple[str, ...]            the `model_type` values that it reads.
DEFAULTS: dict[str, dict[str, Any]]     {model_type: class defaults for fields that published files leave out}.
NESTED_DEFAULTS, optional               the same, of language parts inside multimodal files, which are cut shorter.

def read(fields: Fields) -> Model       problems go to `fields`; the Model is dropped if there are any.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from planner import discovery


def get(model_type: str) -> Any:
    """The family module that reads `model_type`, or None. A family of that name is tried before the others."""
    named = discovery.module(__name__, model_type) if model_type.isidentifier() else None
    if named is not None and model_type in named.MODEL_TYPES:
        return named
    return _by_type().get(model_type)


@cache
def _by_type() -> dict[str, ModuleType]:
    return {name: module for module in discovery.modules(__name__) for name in module.MODEL_TYPES}


def model_types() -> tuple[str, ...]:
    """Every model type that some family reads, sorted."""
    return tuple(sorted(_by_type()))
