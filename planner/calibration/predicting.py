"""What the plan says of a point, for any value of the scalars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from planner import evaluation
from planner.calibration.points import Point
from planner.domain.calibration import SCALARS, Calibration, CalibrationBands, Subject
from planner.domain.evaluation import Latency, Throughput
from planner.domain.measurement import Observation
from planner.domain.plan import Plan
from planner.evaluation import latency
from planner.evaluation.simulation import wanted

NONE = CalibrationBands((1.0, 1.0), (1.0, 1.0))
NAMES = tuple(SCALARS)


def with_scalars(plan: Plan, logarithms: Sequence[float]) -> Plan:
    """The configured plan with the scalars, whatever its subject."""
    multipliers = dict(zip(NAMES, map(math.exp, logarithms), strict=True))
    return replace(plan, calibration=Calibration("", "", Subject(), multipliers, NONE, NONE))


@dataclass(slots=True)
class Predictor:
    """Logarithms of the figures of `points`, by closed forms set straight by the event simulation.

    A finite or an open run is simulated where it is evaluated, which is too slow for a search: what the simulation
    says over what the closed form says is taken at one place (`settle`), and moves with the closed form from there.
    """

    points: Sequence[Point]
    over: list[float] = field(default_factory=list)
    _fit: dict[int, float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.over = [0.0] * len(self.points)

    def __call__(self, logarithms: Sequence[float]) -> list[float]:
        return [value + over for value, over in zip(self._closed(logarithms), self.over, strict=True)]

    def settle(self, logarithms: Sequence[float]) -> None:
        """Take the simulation's word at these scalars."""
        known: dict[int, tuple[Latency, Throughput]] = {}
        for index, (point, closed) in enumerate(zip(self.points, self._closed(logarithms), strict=True)):
            plan = point.plan
            assert plan is not None
            if not wanted(plan) or not math.isfinite(closed):
                continue
            if id(plan) not in known:
                found = evaluation.evaluate(with_scalars(plan, logarithms), simulate=True)
                known[id(plan)] = found.latency, found.throughput
            simulated = figure_of(point.observation, *known[id(plan)])
            self.over[index] = simulated - closed if math.isfinite(simulated) else 0.0

    def _fitting(self, plan: Plan) -> float | None:
        if id(plan) not in self._fit:
            self._fit[id(plan)] = evaluation.sequences_that_fit(plan, evaluation.ledger_of(plan))
        return self._fit[id(plan)]

    def _closed(self, logarithms: Sequence[float]) -> list[float]:
        known: dict[int, tuple[Latency, Throughput]] = {}
        values = []
        for point in self.points:
            plan = point.plan
            assert plan is not None
            if id(plan) not in known:
                moved = with_scalars(plan, logarithms)
                served = latency.evaluate(moved, self._fitting(plan))
                known[id(plan)] = served.latency, served.throughput
            values.append(figure_of(point.observation, *known[id(plan)]))
        return values


def figure_of(item: Observation, latency: Latency, throughput: Throughput) -> float:
    """The logarithm of the figure that was observed; infinity where the plan has none (a queue that grows)."""
    value = value_of(item, latency, throughput)
    return math.log(value) if value is not None and value > 0.0 else math.inf


def value_of(item: Observation, latency: Latency, throughput: Throughput) -> float | None:
    """The figure that was observed, as the plan has it, SI."""
    found: Mapping[str, float | None] = {
        "output_tokens_per_second": throughput.output_tokens_per_s,
        "requests_per_second": throughput.requests_per_s,
        "prefill": latency.prefill_s,
    }
    if item.figure in found:
        return found[item.figure]
    percentiles = {
        "time_to_first_token": latency.time_to_first_token_s,
        "inter_token_latency": latency.inter_token_latency_s,
        "time_per_output_token": latency.time_per_output_token_s,
        "request_latency": latency.request_latency_s,
    }[item.figure]
    return percentiles.at(item.statistic)
