"""Charts of the deployment under arrivals, as places on a square of 100 by 100; templates draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from planner.domain.plan import Plan
from planner.format import duration, rate, significant
from planner.report.analysis_types import LoadInterval, LoadPoint, UnderLoad
from planner.report.axes import Axis, around, from_zero
from planner.report.report_model import Chart, ChartLine, Rule

CURVES = ("p50", "p95", "p99")
GAP_TITLES = {"inter_token_latency": "Time between tokens", "time_per_output_token": "Time per output token"}


def charts(plan: Plan, found: UnderLoad) -> tuple[Chart, ...]:
    """Latency by rate, what is served by rate, the queue over time, the distribution of TTFT: what is known of them."""
    gap = GAP_TITLES[found.gap_metric]
    drawn = (
        _latency_chart(plan, found, "time_to_first_token", "Time to first token", lambda point: point.first_token),
        _latency_chart(plan, found, found.gap_metric, gap, lambda point: point.gap),
        _served_chart(plan, found),
        _queue_chart(found),
        _distribution_chart(plan, found) if found.first_tokens else None,
    )
    return tuple(chart for chart in drawn if chart is not None)


def _latency_chart(
    plan: Plan, found: UnderLoad, metric: str, title: str, read: Callable[[LoadPoint], Mapping[str, float]]
) -> Chart | None:
    """Percentiles by rate, logarithmic, with a line for each limit on them."""
    points = [(point.arrivals_per_s, read(point)) for point in found.points if read(point)]
    if len(points) < 2:
        return None
    limits = [(item.statistic or "mean", item.limit) for item in plan.objectives.limits if item.metric == metric]
    shown = [values[name] for _, values in points for name in CURVES] + [limit for _, limit in limits]
    x, y = _rate_axis(found), around(shown)
    lines = tuple(
        ChartLine(name, _path(((x.share(at), y.share(values[name])) for at, values in points)), style)
        for style, name in enumerate(CURVES, 1)
    )
    rules = tuple(
        Rule(f"limit on {statistic}: {duration(limit)}", 100.0 - y.share(limit), True, "limit")
        for statistic, limit in limits
    )
    return Chart(
        key=metric.replace("_", "-"),
        title=f"{title} by rate",
        description=_described(title, points, limits),
        x_title=f"{found.noun} per second that arrive",
        y_title=title,
        x_ticks=x.ticks(6, significant_tick),
        y_ticks=y.ticks(6, duration_tick),
        lines=lines,
        rules=(*rules, *_rate_rules(found, x)),
    )


def _described(
    title: str, points: Sequence[tuple[float, Mapping[str, float]]], limits: Sequence[tuple[str, float]]
) -> str:
    least, most = (
        f"{duration(values['p95'])} at {significant(at)} per second" for at, values in (points[0], points[-1])
    )
    said = f"{title}, p95: {least}, {most}"
    lines = ", ".join(f"{statistic} {duration(limit)}" for statistic, limit in limits)
    return f"{said}. Limit: {lines}." if lines else f"{said}."


def _served_chart(plan: Plan, found: UnderLoad) -> Chart | None:
    """What is served, and what keeps every limit, by what comes."""
    points = [point for point in found.points if point.first_token]
    if len(points) < 2:
        return None
    x, y = _rate_axis(found), from_zero([point.served_per_s for point in points], 1e-3)
    series: list[tuple[str, Callable[[LoadPoint], float]]] = [("served", lambda point: point.served_per_s)]
    if plan.objectives.limits:
        series.append(("within the limits", lambda point: point.kept_per_s))
    last = points[-1]
    kept = f", {rate(last.kept_per_s, 'requests')} of them within the limits" if len(series) > 1 else ""
    served, arriving = rate(last.served_per_s, "requests"), rate(last.arrivals_per_s, found.noun)
    return Chart(
        key="served",
        title="Requests served by rate",
        description=f"{served} of {arriving} are served{kept}.",
        x_title=f"{found.noun} per second that arrive",
        y_title="requests per second",
        x_ticks=x.ticks(6, significant_tick),
        y_ticks=y.ticks(5, significant_tick),
        lines=tuple(
            ChartLine(name, _path((x.share(point.arrivals_per_s), y.share(read(point))) for point in points), style)
            for style, (name, read) in enumerate(series, 1)
        ),
        rules=_rate_rules(found, x),
    )


def _queue_chart(found: UnderLoad) -> Chart:
    """Requests that wait, over the run at the declared load."""
    x = Axis(0.0, max(found.series[-1].end_s, 1e-9))
    y = from_zero([item.queue for item in found.series])
    most = max(found.series, key=lambda item: item.queue)
    return Chart(
        key="queue",
        title="Queue over time",
        description=f"Mean requests that wait, at {rate(found.arrivals_per_s, found.noun)}: "
        f"{number(most.queue)} at most, from {duration(most.begin_s)} on.",
        x_title="seconds from the first arrival",
        y_title="requests that wait",
        x_ticks=x.ticks(6, significant_tick),
        y_ticks=y.ticks(5, significant_tick),
        lines=(ChartLine("waiting", _path(_stairs(found.series, x, y)), 1),),
        rules=(),
    )


def _distribution_chart(plan: Plan, found: UnderLoad) -> Chart:
    """Share of requests whose first token came by then."""
    values = found.first_tokens
    limits = [item for item in plan.objectives.limits if item.metric == "time_to_first_token"]
    x, y = around([*values, *(item.limit for item in limits)]), Axis(0.0, 100.0)
    steps = ((x.share(value), 100.0 * (index + 1) / len(values)) for index, value in enumerate(values))
    return Chart(
        key="first-token-distribution",
        title="Distribution of the time to first token",
        description=f"Half of the requests have their first token by {duration(quantile_of(values, 0.5))}, "
        f"95 % by {duration(quantile_of(values, 0.95))}, all by {duration(values[-1])}.",
        x_title="time to first token",
        y_title="requests, per cent",
        x_ticks=x.ticks(6, duration_tick),
        y_ticks=y.ticks(5, significant_tick),
        lines=(ChartLine("share of requests", _path(steps), 1),),
        rules=tuple(
            Rule(f"limit on {item.statistic or 'mean'}: {duration(item.limit)}", x.share(item.limit), False, "limit")
            for item in limits
        ),
    )


def _rate_axis(found: UnderLoad) -> Axis:
    ends = [point.arrivals_per_s for point in found.points] + [found.capacity_per_s or 0.0, found.arrivals_per_s]
    return from_zero(ends, 1e-6)


def _rate_rules(found: UnderLoad, x: Axis) -> tuple[Rule, ...]:
    offered = Rule(
        f"offered: {rate(found.arrivals_per_s, found.noun)}", x.share(found.arrivals_per_s), False, "offered"
    )
    if found.capacity_per_s is None:
        return (offered,)
    capacity = Rule(f"capacity: {rate(found.capacity_per_s, found.noun)}", x.share(found.capacity_per_s), False, "edge")
    return offered, capacity


def _path(points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """x from the left and y from below, in per cent, to the points of a drawing, whose y goes downwards."""
    return tuple((x, 100.0 - y) for x, y in points)


def _stairs(series: Sequence[LoadInterval], x: Axis, y: Axis) -> Iterable[tuple[float, float]]:
    """The queue, level over each interval."""
    for item in series:
        yield x.share(item.begin_s), y.share(item.queue)
        yield x.share(item.end_s), y.share(item.queue)


def significant_tick(value: float) -> str:
    """A number on an axis, without zeros that say nothing: 0, 0.5, 20, 1,000."""
    return f"{value:,.6g}"


def duration_tick(value: float) -> str:
    """A time on an axis: 50 ms, 2 s."""
    return f"{significant_tick(value)} s" if value >= 0.9995 else f"{significant_tick(value * 1e3)} ms"


def number(value: float) -> str:
    """A mean of things: hundredths below one, three digits above."""
    return f"{value:.2f}" if value < 0.9995 else significant(value)


def quantile_of(values: Sequence[float], level: float) -> float:
    return values[min(max(round(level * len(values)) - 1, 0), len(values) - 1)]
