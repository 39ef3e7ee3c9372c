"""Results of pure functions, kept: an evaluation asks the same of the same model, or plan, hundreds of times.

Models and plans are told apart as objects: comparing them by content would take longer than most of what is kept.
What is returned must not be changed by who gets it. Of each function 512 results are kept at most; past that all are
dropped, so that memory stays bounded over many specs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

MOST = 512

First = TypeVar("First")
Rest = ParamSpec("Rest")
Item = TypeVar("Item")
Result = TypeVar("Result")


def by_object(
    function: Callable[Concatenate[First, Rest], Result],
) -> Callable[Concatenate[First, Rest], Result]:
    """`function`, which computes only once for one first argument as an object and equal other (hashable) ones."""
    known: dict[Hashable, tuple[First, Result]] = {}

    @wraps(function)
    def remembered(first: First, /, *arguments: Rest.args, **named: Rest.kwargs) -> Result:
        key = (id(first), arguments, *named.items())
        found = known.get(key)
        if found is not None and found[0] is first:
            return found[1]
        result = function(first, *arguments, **named)
        _keep(known, key, (first, result))
        return result

    return remembered


def by_objects(function: Callable[[First, tuple[Item, ...]], Result]) -> Callable[[First, tuple[Item, ...]], Result]:
    """The same for an object and a tuple of objects, none of which need be hashable."""
    known: dict[Hashable, tuple[First, tuple[Item, ...], Result]] = {}

    @wraps(function)
    def remembered(first: First, items: tuple[Item, ...]) -> Result:
        key = (id(first), *map(id, items))
        found = known.get(key)
        if (
            found is not None
            and found[0] is first
            and all(old is new for old, new in zip(found[1], items, strict=True))
        ):
            return found[2]
        result = function(first, items)
        _keep(known, key, (first, items, result))
        return result

    return remembered


def _keep(known: dict[Hashable, Any], key: Hashable, kept: Any) -> None:
    if len(known) >= MOST:
        known.clear()
    known[key] = kept
