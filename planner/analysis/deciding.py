"""The one measurement whose band decides most objectives."""

from __future__ import annotations

from planner.domain.evaluation import ObjectiveOutcome
from planner.evaluation import Detail
from planner.format import Dimension
from planner.report.analysis_types import DecidingMeasurement, Quantity

# What to measure -> objectives that its band leaves open.
_PER_TOKEN = ("inter_token_latency", "time_per_output_token", "output_tokens_per_second_per_user")
_WHOLE = ("request_latency", "session_latency", "deadline")
MEASURES = {
    "inter-token latency": (*_PER_TOKEN, *_WHOLE),
    "time to first token": ("time_to_first_token", *_WHOLE),
    "output tokens per second": (
        "output_tokens_per_second",
        "goodput",
        "cost_per_million_output_tokens",
        "completion_time",
    ),
}


def deciding_measurement(detail: Detail) -> tuple[DecidingMeasurement | None, str]:
    """None and why, where nothing is open."""
    open_ones = [item for item in detail.evaluation.objectives if item.outcome == "at-risk"]
    if not open_ones:
        return None, "No objective lies inside its band: a measurement would not change an outcome."
    counts = {name: [item for item in open_ones if _metric(item) in metrics] for name, metrics in MEASURES.items()}
    figure = max(counts, key=lambda name: len(counts[name]))
    if not counts[figure]:
        return None, "The objectives that are open do not depend on a measured speed."
    value, band, dimension = _now(detail, figure)
    estimate = Quantity(value, dimension)
    low, high = (value * band[0], value * band[1]) if value is not None else (None, None)
    names = tuple(item.objective for item in counts[figure])
    return (
        DecidingMeasurement(
            figure, names, len(open_ones), estimate, low, high, detail.evaluation.bands.word, _how(detail, figure)
        ),
        "",
    )


def _metric(item: ObjectiveOutcome) -> str:
    return item.objective.partition(".")[0]


def _now(detail: Detail, figure: str) -> tuple[float | None, tuple[float, float], Dimension]:
    evaluation = detail.evaluation
    if figure == "inter-token latency":
        return evaluation.latency.inter_token_latency_s.mean, evaluation.bands.latency, "seconds"
    if figure == "time to first token":
        return evaluation.latency.time_to_first_token_s.mean, evaluation.bands.latency, "seconds"
    return evaluation.throughput.output_tokens_per_s, evaluation.bands.throughput, "tokens/s"


def _how(detail: Detail, figure: str) -> str:
    return f"Run the benchmark of the last section at the declared load and read its {figure}."
