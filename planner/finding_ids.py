"""Ids of every finding that there is, for those that a project or a waiver names."""

from __future__ import annotations

import difflib
from functools import cache

from planner import checks, discovery
from planner.quoting import quoted
from planner.reading_explanations import READING
from planner.spec_explanations import DECLARED


@cache
def known() -> frozenset[str]:
    """The check modules by their names, and what reading and validating find."""
    named = (name.replace("_", "-") for name in discovery.names(checks.__name__))
    return frozenset((*named, *READING, *DECLARED))


def nearest(name: str) -> str:
    """ "Did you mean `a` or `b`?", or where ids are found."""
    words = set(name.lower().split("-"))
    near = difflib.get_close_matches(name.lower()[:100], sorted(known()), n=2, cutoff=0.7)
    near += sorted(item for item in known() if words and sorted(words) == sorted(item.split("-")) and item not in near)
    near = near or difflib.get_close_matches(name.lower()[:100], sorted(known()), n=1, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(quoted(item) for item in near[:2])}?"
    return "The id of a finding stands before its message, and `planner explain` knows it."
