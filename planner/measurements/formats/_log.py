"""Lines of a start-up log: the first match of each pattern, within bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

MOST_LINES = 200_000
LONGEST = 4_000

GIB = 2.0**30


def found(lines: Sequence[str], patterns: Mapping[str, re.Pattern[str]]) -> Mapping[str, Sequence[str]]:
    """{name: groups of the first line that has it}. Lines are cut, and only so many looked at."""
    seen: dict[str, Sequence[str]] = {}
    for line in lines[:MOST_LINES]:
        cut = line[:LONGEST]
        for name, pattern in patterns.items():
            if name not in seen:
                match = pattern.search(cut)
                if match is not None:
                    seen[name] = match.groups()
        if len(seen) == len(patterns):
            break
    return seen


def gib(groups: Sequence[str] | None) -> float | None:
    return float(groups[0]) * GIB if groups else None


def count(groups: Sequence[str] | None) -> int | None:
    return int(groups[0].replace(",", "")) if groups else None
