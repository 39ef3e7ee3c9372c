"""Figures of an engine by version: defaults and measured constants, from `planner/catalogue/engines/<name>.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from planner.resources import PACKAGE

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NEWEST = 10**6


@dataclass(frozen=True, slots=True)
class Figures:
    """Every figure of one engine at one version."""

    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def gib(self, key: str) -> float:
        return float(self.values[key]) * 2.0**30

    def by_ranks(self, key: str, ranks: int) -> float:
        """A table {ranks: value}: the entry of the largest key that is not above `ranks`."""
        table = self.values[key]
        return float(table[max((size for size in table if size <= ranks), default=min(table))])


@cache
def document(name: str) -> Mapping[str, Any]:
    """The catalogue file of the engine `name`, read once."""
    path = PACKAGE / "catalogue" / "engines" / f"{name}.yaml"
    content: Mapping[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    return content


@cache
def figures(name: str, release: tuple[int, ...] = ()) -> Figures:
    """The figures of `name` at `release`; () is the newest.

    Each figure is a list of {from, value, source}, ascending; the last whose `from` is reached holds.
    A release without a patch number is the newest patch of it: "0.5" has what came with 0.5.4.
    """
    reached = (*release, _NEWEST) if release else (_NEWEST,)
    chosen = {}
    for key, entries in document(name)["figures"].items():
        fitting = [entry for entry in entries if _numbers(entry.get("from", "0")) <= reached]
        chosen[key] = (fitting or entries[:1])[-1]["value"]
    return Figures(chosen)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in str(version).split("."))
