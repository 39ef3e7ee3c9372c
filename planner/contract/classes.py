"""Request classes: their names, shares and lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import fsum
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items, section

CLOSE = 1e-6
"""Shares are written with a few digits: three thirds of 0.333333 are a whole."""


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    workload = section(data, "workload")
    classes = list(items(workload, "classes"))
    yield from _shares(classes)
    for index, item in classes:
        recorded = "trace" in section(item, "load") or ("load" not in item and "trace" in section(workload, "load"))
        yield from _lengths(item, index, recorded=recorded)


def _shares(classes: list[tuple[int, Mapping[str, Any]]]) -> Iterator[Problem]:
    """Declared shares fill the load; where some class declares none, they leave something for it."""
    sharing = [(index, item) for index, item in classes if "load" not in item]
    declared = [(index, _share(item["share"])) for index, item in sharing if "share" in item]
    if not declared or any(share is None for _, share in declared):
        return
    total = fsum(share for _, share in declared if share is not None)
    whole = len(declared) == len(sharing)
    if abs(total - 1) <= CLOSE * max(1, len(declared)) if whole else total < 1:
        return
    path = ("workload", "classes", declared[-1][0], "share")
    wanted = "together they are 1" if whole else "the class without a share takes what the others leave"
    message = f"the shares of the classes add up to {total:.6g}; {wanted}"
    yield Problem("shares-do-not-add-up", path, message, "Correct the shares.", values={"sum": total})


def _share(value: Any) -> float | None:
    from planner import units

    return None if units.problem(value, "share") else units.si(value, "share")


def _lengths(item: Mapping[str, Any], index: int, *, recorded: bool) -> Iterator[Problem]:
    path = ("workload", "classes", index)
    given = [key for key in ("prompt_tokens", "output_tokens") if key in item]
    if "context_tokens" in item:
        for key in given:
            message = f"`context_tokens` stands in place of prompt and output, but the class also has `{key}`"
            hint = "Keep context_tokens, or both prompt_tokens and output_tokens."
            yield Problem("conflicting-keys", (*path, key), message, hint, at_key=True)
    elif not recorded:
        for key in ("prompt_tokens", "output_tokens"):
            if key not in given:
                hint = "Give prompt_tokens and output_tokens; or context_tokens, the cached tokens of one sequence."
                yield Problem("missing-key", path, f"the class lacks the key `{key}`", hint, True, {"key": key})
