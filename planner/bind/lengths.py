"""A declared length to a distribution of token counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from planner.contract.lengths import LEVELS, mean_bounds
from planner.domain.workload import Length

# Standard normal quantiles of the percentiles that a spec may declare.
NORMAL_QUANTILE = {"p50": 0.0, "p90": 1.2815515655446004, "p95": 1.6448536269514722, "p99": 2.3263478740408408}
SLICES = 512
QUANTILE = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def fixed(tokens: float) -> Length:
    """A length that never varies."""
    return Length(dict.fromkeys(("mean", "p50", "p90", "p95", "p99", "max"), float(tokens)), ("mean",))


def length(value: Any) -> Length:
    """A number, or declared statistics.

    A log-normal is laid through the declared percentiles (or mean), cut at the declared maximum: the median
    exp(mu), each percentile exp(mu + sigma z). One percentile alone gives sigma 0 unless a maximum is
    declared, which then is read as the 99.9th percentile, or a mean. The mean is that of the cut distribution. What
    is declared holds: a percentile that is not lies between those beside it, and the mean within what they allow.
    """
    if not isinstance(value, Mapping):
        return fixed(float(value))
    declared = {key: float(number) for key, number in value.items() if isinstance(number, int | float)}
    mu, sigma = _fit(declared)
    maximum = declared.get("max", max(math.exp(mu + 3.0902 * sigma), *declared.values()) if declared else 0.0)
    points = {key: min(math.exp(mu + sigma * z), maximum) for key, z in NORMAL_QUANTILE.items()}
    points["mean"] = _censored_mean(mu, sigma, maximum)
    points["max"] = maximum
    return Length(_between({**points, **declared}, declared), tuple(declared))


def _between(points: dict[str, float], declared: Mapping[str, float]) -> dict[str, float]:
    """The points with what is not declared put between what is."""
    least = 0.0
    for key in LEVELS:
        if key in declared:
            least = declared[key]
            continue
        above = next(
            (declared[other] for other in tuple(LEVELS)[tuple(LEVELS).index(key) :] if other in declared), None
        )
        points[key] = least = max(least, points[key] if above is None else min(points[key], above))
    if "mean" not in declared:
        low, high = mean_bounds({level: points[key] for key, level in LEVELS.items()})
        points["mean"] = min(max(points["mean"], low), high)
    return points


def recorded(tokens: Sequence[int], trace: str) -> Length:
    """The distribution of recorded lengths: nearest-rank percentiles, and 512 equally likely values."""
    ordered = sorted(tokens)
    last = len(ordered) - 1
    points = {name: float(ordered[min(math.ceil(level * len(ordered)) - 1, last)]) for name, level in QUANTILE.items()}
    points["mean"] = math.fsum(ordered) / len(ordered)
    points["max"] = float(ordered[-1])
    values = tuple(float(ordered[min(int((index + 0.5) / SLICES * len(ordered)), last)]) for index in range(SLICES))
    return Length(points, ("trace",), trace, values)


def _fit(declared: Mapping[str, float]) -> tuple[float, float]:
    """mu and sigma of the log-normal by least squares on the declared percentiles."""
    points = [(NORMAL_QUANTILE[key], math.log(max(number, 1.0))) for key, number in declared.items() if key in QUANTILE]
    if len(points) == 1 and "max" in declared and declared["max"] > 0:
        points.append((3.0902, max(math.log(declared["max"]), points[0][1])))
    elif len(points) == 1 and declared.get("mean", 0.0) >= 1.0:
        return _through_mean(*points[0], math.log(declared["mean"]))
    if not points:
        return _from_mean(declared)
    middle_z = math.fsum(z for z, _ in points) / len(points)
    middle = math.fsum(y for _, y in points) / len(points)
    spread = math.fsum((z - middle_z) ** 2 for z, _ in points)
    slope = math.fsum((z - middle_z) * (y - middle) for z, y in points) / spread if spread else 0.0
    sigma = max(slope, 0.0)
    return middle - sigma * middle_z, sigma


def _through_mean(z: float, percentile: float, mean: float) -> tuple[float, float]:
    """One percentile and the mean, as logarithms: q = mu + z s and m = mu + s^2 / 2, so s^2 / 2 - z s - (m - q) = 0.

    The smaller root that is no less than 0; where there is none, the spread with the least mean, s = z.
    """
    inner = z * z + 2.0 * (mean - percentile)
    roots = [z - math.sqrt(inner), z + math.sqrt(inner)] if inner >= 0.0 else [z]
    sigma = min((root for root in roots if root >= 0.0), default=0.0)
    return percentile - sigma * z, sigma


def _from_mean(declared: Mapping[str, float]) -> tuple[float, float]:
    """With a mean (and a maximum) only: the log-normal of that mean whose 99.9th percentile is the maximum.

    ln max = mu + 3.09 sigma and ln mean = mu + sigma^2/2: the smaller root of sigma^2/2 - 3.09 sigma + ln(max/mean).
    """
    mean = max(declared.get("mean", declared.get("max", 1.0)), 1e-9)
    ratio = math.log(max(declared.get("max", mean) / mean, 1.0))
    discriminant = 3.0902**2 - 2 * ratio
    sigma = 3.0902 - math.sqrt(discriminant) if discriminant > 0 else 3.0902
    return math.log(mean) - sigma * sigma / 2, sigma


def _censored_mean(mu: float, sigma: float, maximum: float) -> float:
    """Mean of min(X, m), X log-normal: exp(mu + s^2/2) Phi(d - s) + m (1 - Phi(d)), d = (ln m - mu)/s."""
    if sigma == 0.0 or maximum <= 0:
        return min(math.exp(mu), maximum) if maximum > 0 else math.exp(mu)
    distance = (math.log(maximum) - mu) / sigma
    return math.exp(mu + sigma * sigma / 2) * _phi(distance - sigma) + maximum * (1 - _phi(distance))


def _phi(z: float) -> float:
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))
