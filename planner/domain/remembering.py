"""Results of pure functions of a model, kept: an evaluation asks the same of the same model hundreds of times."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from planner.domain.model import Model

MOST = 512
"""Results of one function that are kept; past it all are dropped, so that memory stays bounded over many specs."""

Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def by_model(
    function: Callable[Concatenate[Model, Rest], Result],
) -> Callable[Concatenate[Model, Rest], Result]:
    """`function`, which computes only once for one model and the same other arguments.

    Models are told apart as objects: comparing them by content would take longer than most of what is kept. The result
    must not be changed by who gets it, and the other arguments must be hashable.
    """
    known: dict[Hashable, tuple[Model, Result]] = {}

    @wraps(function)
    def remembered(model: Model, /, *arguments: Rest.args, **named: Rest.kwargs) -> Result:
        key = (id(model), arguments, *named.items())
        found = known.get(key)
        if found is not None and found[0] is model:
            return found[1]
        result = function(model, *arguments, **named)
        if len(known) >= MOST:
            known.clear()
        known[key] = model, result
        return result

    return remembered
