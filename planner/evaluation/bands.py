"""How far a measurement may lie from an estimate: factors, low and high, by kind of figure.

What was measured over what was estimated, from published runs whose group was left out when the constants were set
(docs/decisions/0020-latency-constants.md), gives the factors of a step (l, h), of a prompt and of throughput. Waiting
is not a step: at a utilisation u it grows as x^2 (1 - u) / (1 - u x) when every step takes x times as long (the
M/G/1 queue), so the same uncertainty weighs more the nearer the load is to capacity.

    first token = (alone x prompt's factor + wait x grown(u, step's factor)) / (alone + wait)
    request     = (first token x its factor + rest x step's factor) / request
"""

from __future__ import annotations

from planner.domain.evaluation import Bands, Latency
from planner.domain.plan import Plan
from planner.evaluation.calibrated import calibration_of
from planner.evaluation.efficiencies import efficiencies_of

MEMORY = (0.97, 1.03)
NEAREST = 0.98
"""Utilisation beyond which a queue has no mean; a band ends there."""
UNCALIBRATED = "uncalibrated"
PRIOR = "prior"
Band = tuple[float, float]


def bands_of(plan: Plan, latency: Latency | None = None, utilisation: float = 0.0) -> Bands:
    """Of a configured plan under its load. latency: its means. utilisation: offered over served, of open loads.

    The ideal engine is a floor: its figures are exact for what they charge.
    """
    if plan.engine.name == "ideal":
        return Bands(word="floor")
    step, prompt, rate, word = _factors(plan)
    first = _first_token(latency, step, prompt, utilisation)
    return Bands(MEMORY, step, prompt, first, _request(latency, step, first), rate, word)


def _factors(plan: Plan) -> tuple[Band, Band, Band, str]:
    """Of a step, a prompt and throughput: residuals of a calibration, of the subject itself or of its family; else of
    published runs, where the hardware has constants of its own; else a factor of two."""
    known, exact = calibration_of(plan)
    figure = efficiencies_of(plan)
    step, prompt, rate = ((figure(f"{name}_low"), figure(f"{name}_high")) for name in ("step", "prompt", "throughput"))
    if known is not None:
        found = known.calibrated if exact else known.family
        return found.latency, found.prompt or prompt, found.throughput, "calibrated" if exact else "family"
    return step, prompt, rate, UNCALIBRATED if figure.fitted else PRIOR


def grown(utilisation: float, factor: float) -> float:
    """A wait over itself when every step takes `factor` times as long: x^2 (1 - u) / (1 - u x), u x below NEAREST."""
    used = min(max(utilisation, 0.0), NEAREST)
    return factor * factor * (1.0 - used) / (1.0 - min(used * factor, NEAREST))


def _first_token(latency: Latency | None, step: Band, prompt: Band, utilisation: float) -> Band:
    """The prompt's own factor, and what its wait grows by. Queues of closed loops grow as their steps do."""
    mean = latency.time_to_first_token_s.mean if latency is not None else None
    alone = latency.prefill_s if latency is not None else None
    if mean is None or alone is None or mean <= alone or utilisation <= 0.0:
        return prompt
    share = alone / mean
    low, high = (
        share * own + (1.0 - share) * grown(utilisation, factor) for own, factor in zip(prompt, step, strict=True)
    )
    return min(low, prompt[0]), max(high, prompt[1])


def _request(latency: Latency | None, step: Band, first: Band) -> Band:
    """A sum's ends are the sums of its parts' ends."""
    mean = latency.request_latency_s.mean if latency is not None else None
    begun = latency.time_to_first_token_s.mean if latency is not None else None
    if not mean or begun is None:
        return step
    share = min(begun / mean, 1.0)
    low, high = (share * own + (1.0 - share) * rest for own, rest in zip(first, step, strict=True))
    return low, high
