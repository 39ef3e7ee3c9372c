"""The one measurement whose band decides most objectives."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.evaluation import Bands, ObjectiveOutcome
from planner.evaluation import Detail
from planner.format import Dimension
from planner.report.analysis_types import DecidingMeasurement, Quantity

# What to measure -> objectives that its band leaves open.
_PER_TOKEN = ("inter_token_latency", "time_per_output_token", "output_tokens_per_second_per_user")
_WHOLE = ("request_latency", "session_latency", "deadline")
MEASURES = {
    "inter-token latency": (*_PER_TOKEN, *_WHOLE),
    "time to first token": ("time_to_first_token", *_WHOLE),
    "request latency": _WHOLE,
    "output tokens per second": (
        "output_tokens_per_second",
        "goodput",
        "cost_per_million_output_tokens",
        "cost_per_million_tokens",
        "cost_per_request",
        "energy_per_output_token",
        "energy_per_request",
        "completion_time",
    ),
}
# Objectives that bind the measured figure itself: their statistic is the one to measure.
OWN = {
    "inter-token latency": ("inter_token_latency", "time_per_output_token"),
    "time to first token": ("time_to_first_token",),
    "request latency": ("request_latency", "deadline"),
    "output tokens per second": ("output_tokens_per_second",),
}


def deciding_measurement(detail: Detail) -> tuple[DecidingMeasurement | None, str]:
    """None and why, where nothing is open."""
    open_ones = [item for item in detail.evaluation.objectives if item.outcome == "at-risk"]
    if not open_ones:
        return None, "No objective lies inside its band: a measurement would not change an outcome."
    decided = {name: [item for item in open_ones if _metric(item) in metrics] for name, metrics in MEASURES.items()}
    figure = max(decided, key=lambda name: (len(decided[name]), len(_own(name, decided[name]))))
    if not decided[figure]:
        return None, "The objectives that are open do not depend on a measured speed."
    return _measurement(detail, figure, decided[figure], len(open_ones)), ""


def _measurement(
    detail: Detail, figure: str, decided: Sequence[ObjectiveOutcome], number_open: int
) -> DecidingMeasurement:
    """At the statistic that the first open objective on the figure itself binds; the mean where none does."""
    own = _own(figure, decided)
    statistic = (own[0].objective.partition(".")[2] if own else "") or (
        "" if _dimension(figure) == "tokens/s" else "mean"
    )
    name = f"{statistic} {figure}".strip()
    if own:
        value, low, high = own[0].estimate, own[0].low, own[0].high
    else:
        value, (below, above) = _now(detail, figure), _band(detail.evaluation.bands, figure)
        low, high = (value * below, value * above) if value is not None else (None, None)
    names = tuple(item.objective for item in decided)
    estimate = Quantity(value, _dimension(figure))
    how = f"Run the benchmark of the last section at the declared load and read its {name}."
    return DecidingMeasurement(name, names, number_open, estimate, low, high, detail.evaluation.bands.word, how)


def _own(figure: str, items: Sequence[ObjectiveOutcome]) -> list[ObjectiveOutcome]:
    return [item for item in items if _metric(item) in OWN[figure]]


def _metric(item: ObjectiveOutcome) -> str:
    return item.objective.partition(".")[0]


def _dimension(figure: str) -> Dimension:
    return "tokens/s" if figure == "output tokens per second" else "seconds"


def _band(bands: Bands, figure: str) -> tuple[float, float]:
    return {"time to first token": bands.first_token, "request latency": bands.request}.get(
        figure, bands.throughput if _dimension(figure) == "tokens/s" else bands.latency
    )


def _now(detail: Detail, figure: str) -> float | None:
    """The mean."""
    latency = detail.evaluation.latency
    return {
        "inter-token latency": latency.inter_token_latency_s.mean,
        "time to first token": latency.time_to_first_token_s.mean,
        "request latency": latency.request_latency_s.mean,
        "output tokens per second": detail.evaluation.throughput.output_tokens_per_s,
    }[figure]
