"""Vision and audio towers of multimodal models, one module a kind.

A tower module has a docstring and:

MODEL_TYPES: tuple[str, ...]    the `model_type` of whole files that it reads.

def read(root: Fields, hidden: int) -> tuple[Weight, ...]

root: the whole file; hidden: width of the language model. Sizes that are missing are noted in `root`.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from planner import discovery


def get(model_type: str) -> Any:
    """The module that reads the towers of `model_type`, or None."""
    return _by_type().get(model_type)


@cache
def _by_type() -> dict[str, ModuleType]:
    return {name: module for module in discovery.modules(__name__) for name in module.MODEL_TYPES}
