"""The mix of request classes: mean lengths, the context that a decoding token sees, quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from planner.domain.plan import Plan
from planner.domain.workload import Length, RequestClass

MOST_SLICES, FEWEST_SLICES, MOST_POINTS = 100, 8, 2000
"""Of a class's lengths, each as often as any other; fewer where many classes make the mix smooth by themselves."""
QUANTILES = (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99))


@dataclass(frozen=True, slots=True)
class Mix:
    """Means over requests, by the shares of the classes and the turns of their sessions.

    prompt: images included; cached: found in the cache. context: mean tokens in cache while a request decodes, weighted
    by its steps (long answers count more). longest: tokens promised to one sequence. turns: requests of one arrival,
    where sessions arrive.
    """

    classes: tuple[RequestClass, ...]
    shares: tuple[float, ...]
    prompt: float
    cached: float
    output: float
    context: float
    longest: float
    has_prompt: bool
    turns: float = 1.0

    @property
    def has_gaps(self) -> bool:
        """Whether any answer has a second token: with one there is no time between tokens."""
        return any(item.output is None or item.output.maximum > 1.0 for item in self.classes)


def mix_of(plan: Plan, classes: Sequence[RequestClass] | None = None) -> Mix:
    """Of all classes, or of some."""
    chosen = tuple(classes if classes is not None else plan.workload.classes)
    weights = [item.share * turns(item) for item in chosen]
    total = math.fsum(weights) or 1.0
    shares = tuple(weight / total for weight in weights)
    has_prompt = bool(chosen) and all(item.prompt is not None and item.output is not None for item in chosen)
    mean: Callable[[Callable[[RequestClass], float]], float] = lambda figure: math.fsum(  # noqa: E731
        share * figure(item) for share, item in zip(shares, chosen, strict=True)
    )
    steps = mean(lambda item: output_tokens(item)) or 1.0
    return Mix(
        classes=chosen,
        shares=shares,
        prompt=mean(prompt_tokens),
        cached=mean(lambda item: cached_tokens(plan, item)),
        output=mean(output_tokens),
        context=mean(lambda item: output_tokens(item) * context_tokens(item)) / steps,
        longest=max((promised_tokens(item) for item in chosen), default=0.0),
        has_prompt=has_prompt,
        turns=total / (math.fsum(item.share for item in chosen) or 1.0) if chosen else 1.0,
    )


def pause_s(plan: Plan) -> float:
    """Pause after a request, mean: between the turns of a session, none after its last."""
    classes = plan.workload.classes
    pauses = math.fsum(item.share * (turns(item) - 1.0) * item.session.turn_delay_s for item in classes if item.session)
    return pauses / (math.fsum(item.share * turns(item) for item in classes) or 1.0)


def images(item: RequestClass) -> float:
    return float(item.image_count * item.image_tokens)


def prompt_tokens(item: RequestClass) -> float:
    """Mean, over the turns where the class has sessions: each sends the context again, longer by what a turn adds."""
    if item.prompt is None:
        return 0.0
    return item.prompt.mean + images(item) + growth_tokens(item) * (turns(item) - 1.0) / 2.0


def turns(item: RequestClass) -> float:
    """Requests that one arrival makes."""
    return float(item.session.turns) if item.session else 1.0


def growth_tokens(item: RequestClass) -> float:
    """What a turn adds to the context: as declared, and its answer at least."""
    return max(item.session.context_growth_tokens, output_tokens(item)) if item.session else 0.0


def turns_of(plan: Plan) -> float:
    """Requests that one arrival makes, mean over the classes."""
    classes = plan.workload.classes
    total = math.fsum(item.share for item in classes) or 1.0
    return math.fsum(item.share * turns(item) for item in classes) / total


def output_tokens(item: RequestClass) -> float:
    return item.output.mean if item.output else 1.0


def context_tokens(item: RequestClass) -> float:
    """Mean cached tokens of a decoding sequence: prompt + E[o^2] / (2 E[o]), or as declared."""
    if item.context_tokens is not None:
        return item.context_tokens
    if item.output is None or item.output.mean <= 0:
        return prompt_tokens(item)
    return prompt_tokens(item) + _second_moment(item.output) / (2 * item.output.mean)


def _second_moment(length: Length) -> float:
    """E[x^2]."""
    return length.mean**2 if length.fixed else _second_moment_of(tuple(sorted(length.points.items())))


@lru_cache(maxsize=256)
def _second_moment_of(points: tuple[tuple[str, float], ...]) -> float:
    """From the quantile function in 200 equal slices, scaled to the mean."""
    length = Length(dict(points))
    values = [quantile(length, (index + 0.5) / 200) for index in range(200)]
    scale = length.mean / (math.fsum(values) / 200)
    return math.fsum((value * scale) ** 2 for value in values) / 200


def cached_tokens(plan: Plan, item: RequestClass) -> float:
    """Prompt tokens found in the cache, mean. Nothing without the prefix cache.

    A turn after the first finds prompt and answer of the one before, but for the last token: of T turns of prompts p
    that grow by g, with answers of o tokens, (T - 1) / T (p + o - 1 + g (T - 2) / 2) on average.
    """
    prefix, many = item.prefix, turns(item)
    if not plan.techniques.prefix_caching or item.prompt is None or (prefix is None and many <= 1.0):
        return 0.0
    if prefix is not None and prefix.hit_rate is not None:
        return prefix.hit_rate * prompt_tokens(item)
    shared = (prefix.shared_tokens if prefix is not None else None) or 0.0
    first = item.prompt.mean + images(item)
    known = first + output_tokens(item) - 1.0 + growth_tokens(item) * (many - 2.0) / 2.0
    found = min(shared, max(first - 1.0, 0.0)) / many + (many - 1.0) / many * known
    return min(found, max(prompt_tokens(item) - 1.0, 0.0))


def promised_tokens(item: RequestClass) -> float:
    """What one sequence may grow to: the largest prompt and the largest answer, or the declared context.

    The last turn of a session has on top what every turn before it added.
    """
    if item.context_tokens is not None:
        return item.context_tokens
    prompt = item.prompt.maximum + images(item) if item.prompt else 0.0
    grown = item.session.context_growth_tokens * max(item.session.turns - 1, 0) if item.session else 0.0
    return prompt + grown + (item.output.maximum if item.output else 0.0)


def quantile(length: Length, share: float) -> float:
    """The length that `share` of requests stay below: log-linear between known points, mirrored below the median."""
    points = length.points
    if length.fixed:
        return points["mean"]
    if share < 0.5:
        mirrored = quantile(length, 1 - share)
        return max(points["p50"] ** 2 / mirrored, 1.0) if mirrored > 0 else 0.0
    known = [
        (0.5, points["p50"]),
        (0.9, points["p90"]),
        (0.95, points["p95"]),
        (0.99, points["p99"]),
        (1.0, points["max"]),
    ]
    for (left, low), (right, high) in pairwise(known):
        if share <= right:
            weight = (share - left) / (right - left)
            return math.exp((1 - weight) * math.log(max(low, 1e-9)) + weight * math.log(max(high, 1e-9)))
    return points["max"]


def mixture_quantiles(mix: Mix, figure: Callable[[RequestClass, float], float]) -> dict[str, float]:
    """p50 to max of a figure that grows with the quantile of a request's lengths, over the whole mix."""
    if len(mix.classes) == 1:  # a figure that grows with the length keeps its quantile
        alone = mix.classes[0]
        found = {name: figure(alone, level) for name, level in QUANTILES}
        return {**found, "max": figure(alone, 1.0)}
    slices = max(FEWEST_SLICES, min(MOST_SLICES, MOST_POINTS // len(mix.classes)))
    points: list[tuple[float, float]] = []
    for share, item in zip(mix.shares, mix.classes, strict=True):
        varies = not ((item.prompt is None or item.prompt.fixed) and (item.output is None or item.output.fixed))
        if varies:
            points += [(figure(item, (index + 0.5) / slices), share / slices) for index in range(slices)]
        else:
            points.append((figure(item, 0.5), share))
    points.sort()
    found = {name: _at(points, level) for name, level in QUANTILES}
    found["max"] = max(figure(item, 1.0) for item in mix.classes)
    return found


def _at(points: list[tuple[float, float]], level: float) -> float:
    reached = 0.0
    for value, weight in points:
        reached += weight
        if reached >= level - 1e-12:
            return value
    return points[-1][0]
