"""Finding the modules of a package by file name: one new thing is one new file."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def names(package: str) -> tuple[str, ...]:
    """Module names of `package`, sorted, without importing them: ("chunked_prefill", ...)."""
    found = importlib.import_module(package)
    return tuple(sorted(item.name for item in pkgutil.iter_modules(found.__path__) if not item.name.startswith("_")))


@cache
def module(package: str, name: str) -> ModuleType | None:
    """The module called `name` (dashes read as underscores) of `package`, or None."""
    wanted = name.replace("-", "_")
    return importlib.import_module(f"{package}.{wanted}") if wanted in names(package) else None


@cache
def modules(package: str) -> tuple[ModuleType, ...]:
    """Every module of `package`, sorted by name."""
    return tuple(importlib.import_module(f"{package}.{name}") for name in names(package))
