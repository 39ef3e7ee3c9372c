"""Declared lengths: statistics that one distribution can have, and parts of a prompt that are no longer than it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from planner.contract.problem import Problem
from planner.contract.reading import items, number, section
from planner.quoting import quoted
from planner.source.document import NodePath

LEVELS = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0}
ROUNDING = 0.005
"""Statistics are written with two or three digits; so much beyond what they allow is no contradiction."""


def problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, item in items(data, "workload", "classes"):
        path: NodePath = ("workload", "classes", index)
        for name in ("prompt_tokens", "output_tokens"):
            yield from _mean(section(item, name), (*path, name))
            yield from _recorded(section(item, name), (*path, name))
        yield from _empty(section(item, "prompt_tokens"), (*path, "prompt_tokens"))
        yield from _prefix(item, path)
        yield from _beside_context(item, path)


def mean_bounds(levels: Mapping[float, float]) -> tuple[float, float]:
    """The least and the largest mean of lengths with the given quantiles.

    levels: {share of requests: tokens that so many do not exceed}, tokens rising with the share. Least: every length
    sits at the quantile below it, sum of (p[i+1] - p[i]) x[i]; largest: at the one above it, sum of
    (p[i+1] - p[i]) x[i+1], which is infinite where no maximum is known.
    """
    known = [(0.0, 0.0), *sorted(levels.items())]
    least = math.fsum((upper - lower) * low for (lower, low), (upper, _) in pairwise(known))
    last, tokens = known[-1]
    if last < 1.0:
        return least + (1.0 - last) * tokens, math.inf
    return least, math.fsum((upper - lower) * high for (lower, _), (upper, high) in pairwise(known))


def _mean(written: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    """A declared mean against the percentiles beside it."""
    mean = number(written.get("mean"))
    levels = {share: tokens for key, share in LEVELS.items() if (tokens := number(written.get(key))) is not None}
    if mean is None or not levels or any(low > high for low, high in pairwise(levels.values())):
        return
    least, most = mean_bounds(levels)
    if least * (1 - ROUNDING) <= mean <= most * (1 + ROUNDING):
        return
    said = ", ".join(f"{key} {quoted(written[key])}" for key in LEVELS if number(written.get(key)) is not None)
    allowed = f"{least:,.15g} to {most:,.15g}" if math.isfinite(most) else f"{least:,.15g} or more"
    message = f"a mean of {quoted(written['mean'])} cannot have {said}: they allow {allowed}"
    hint = "Correct one of them, or leave the mean out: it is then taken from a log-normal through the percentiles."
    values = {"mean": mean, "least": least, "most": most if math.isfinite(most) else None}
    yield Problem("figures-disagree", (*path, "mean"), message, hint, values=values)


def _empty(written: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    """A prompt has a token at least; an answer need not."""
    for key, value in written.items():
        tokens = number(value)
        if key in ("mean", *LEVELS) and tokens is not None and 0 <= tokens < 1:
            message = f"read {quoted(value)}; expected at least 1: a prompt without a token asks nothing"
            yield Problem("out-of-range", (*path, key), message, values={"limit": 1})


def _recorded(written: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    """Statistics beside a trace, whose lengths are recorded."""
    for key in written if "trace" in written else ():
        if key != "trace":
            message = f"`trace` gives the lengths, but {quoted(key)} stands beside it"
            yield Problem("conflicting-keys", (*path, key), message, "Keep one of the two.", at_key=True)


def _prefix(item: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    """What every prompt begins with is in the shortest of them, so no statistic of prompts is below it."""
    shared = number(section(item, "prefix").get("shared_tokens"))
    prompt = item.get("prompt_tokens")
    declared = {"prompt_tokens": prompt} if not isinstance(prompt, Mapping) else prompt
    lengths = {key: tokens for key in declared if key != "trace" and (tokens := number(declared[key])) is not None}
    if shared is None or not lengths:
        return
    key = min(lengths, key=lambda name: lengths[name])
    if shared <= lengths[key]:
        return
    which = "prompt_tokens is" if key == "prompt_tokens" else f"the {key} of prompt_tokens is"
    message = f"{quoted(shared)} tokens that every prompt begins with, but {which} {quoted(lengths[key])}"
    hint = f"prompt_tokens counts the shared tokens: at most {lengths[key]:.15g} are shared; or use prefix.hit_rate."
    values = {"shared_tokens": shared, "prompt_tokens": lengths[key]}
    yield Problem("figures-disagree", (*path, "prefix", "shared_tokens"), message, hint, values=values)


def _beside_context(item: Mapping[str, Any], path: NodePath) -> Iterator[Problem]:
    """What belongs to a prompt, in a class that declares only what is cached."""
    for key in ("prefix", "images", "session") if "context_tokens" in item else ():
        if key in item:
            message = f"`{key}` belongs to a prompt, but the class declares `context_tokens` in place of one"
            hint = f"Give prompt_tokens and output_tokens, or remove `{key}`: context_tokens counts all that is cached."
            yield Problem("misplaced-key", (*path, key), message, hint, at_key=True)
