"""The run for people at a terminal: a table of percentiles, what was served, what happened over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner import format as printed
from planner.domain.plan import Plan
from planner.domain.workload import Load
from planner.output import Options
from planner.output.text import plain_line
from planner.output.text import render as judged
from planner.simulate.figures import STATISTICS, figures
from planner.simulate.run import Simulated
from planner.traffic.series import Interval

TITLES = {
    "queue_wait_s": "queue wait",
    "time_to_first_token_s": "TTFT",
    "inter_token_latency_s": "ITL",
    "time_per_output_token_s": "TPOT",
    "request_latency_s": "request",
    "session_latency_s": "session",
}
LABEL = 12


def as_text(found: Simulated, options: Options) -> str:
    """Figures, then the findings and the verdict as `planner check` prints them."""
    lines = list(_run(found)) if found.ran is not None else []
    return "".join(f"{line}\n" for line in lines) + judged([found.judgement], options)


def _run(found: Simulated) -> Iterator[str]:
    run = figures(found)["run"]
    result = found.judgement.result
    assert result is not None
    plan: Plan = result.detail.plan
    yield _labelled("load", load_text(plan.workload.load, _noun(plan)))
    yield _labelled("simulated", _simulated(run))
    yield ""
    if run["overloaded"]:
        yield "no latency is given: the queue grows without bound"
    else:
        yield from _latencies(run["latency"])
        for name, own in run["classes"].items():
            yield from ("", f"class {plain_line(name)}, {printed.count(own['requests'], 'requests')}")
            yield from _latencies(own["latency"])
    yield ""
    yield from _served(run, bool(plan.objectives.limits), _noun(plan))
    yield ""
    yield from _over_time(found.series)
    yield ""


def _labelled(label: str, text: str) -> str:
    return f"{label.ljust(LABEL)}{text}"


def load_text(load: Load, noun: str = "requests") -> str:
    """The load that was run, in a few words."""
    peak = f", at {load.peak:g} times it" if load.peak != 1.0 else ""
    match load.kind:
        case "rate":
            return f"{printed.rate(load.rate_per_s, noun)}, {load.process} arrivals{peak}"
        case "trace":
            scale = f", {printed.significant(load.scale)} times as dense" if load.scale != 1.0 else ""
            return f"recorded arrivals of {plain_line(load.trace or '')}{scale}{peak}"
        case "concurrency":
            return f"{printed.count(load.concurrency)} requests always in the system"
        case "sessions":
            return f"{printed.count(load.sessions)} live sessions"
        case "offline":
            return "a queue that is never empty"
    return f"a control loop of {printed.duration(load.period_s)}"


def _simulated(run: dict[str, object]) -> str:
    engines, shown = run["engines"], run["simulated_engines"]
    of = f"{shown} of {engines} engines and their share of the load" if shown != engines else _engines(engines)
    warm = run["warm_up_s"]
    after = f" after {printed.duration(warm)} of warm-up" if isinstance(warm, float) and warm > 0 else ""
    length = printed.duration(run["duration_s"])  # type: ignore[arg-type]
    return f"{printed.count(run['requests'], 'requests')} in {length}{after}, {of}, seed {run['seed']}"  # type: ignore[arg-type]


def _engines(number: object) -> str:
    return "1 engine" if number == 1 else f"{number} engines"


def _latencies(latency: dict[str, dict[str, float | None]]) -> Iterator[str]:
    yield " " * LABEL + "".join(name.rjust(10) for name in STATISTICS)
    for key, title in TITLES.items():
        row = latency[key]
        if any(value is not None for value in row.values()):
            yield title.ljust(LABEL) + "".join(printed.duration(row[name]).rjust(10) for name in STATISTICS)


def _served(run: dict[str, dict[str, float]], limits: bool, noun: str) -> Iterator[str]:
    rates, rejected, cache, engine = run["throughput"], run["rejected"], run["cache"], run["engine"]
    yield _labelled(
        "throughput",
        f"{printed.rate(rates['requests_per_s'], 'requests')}, {printed.rate(rates['output_tokens_per_s'], 'tokens')} "
        f"out, {printed.rate(rates['total_tokens_per_s'], 'tokens')} in and out",
    )
    yield from _capacity(run["load"], noun)
    if limits and not run["overloaded"]:
        share = printed.percent(rates["goodput_fraction"])
        good = printed.rate(rates["goodput_requests_per_s"], "requests")
        yield _labelled("goodput", f"{good} keep every latency limit, {share} of those that came")
    yield _labelled("rejected", _rejected(rejected))
    yield _labelled("preempted", "never" if not run["preemptions"] else f"{printed.count(run['preemptions'])} times")  # type: ignore[arg-type]
    used = (
        f", {printed.percent(cache['used_fraction'])} of blocks in use, {printed.percent(cache['most_used_fraction'])} "
        "at most"
        if cache["used_fraction"] is not None
        else ""
    )
    yield _labelled("cache", f"{printed.percent(cache['hit_fraction'])} of prompt tokens found{used}")
    yield _labelled(
        "each engine",
        f"busy {printed.percent(engine['busy_fraction'])} of the time, {printed.percent(engine['prefill_fraction'])} "
        f"with prompts; {_number(engine['running'])} run, {printed.count(engine['most_running'])} at most; "
        f"{_number(engine['waiting'])} wait",
    )


def _number(value: float) -> str:
    """A mean of things: hundredths below one, three digits above."""
    return f"{value:.2f}" if value < 0.9995 else printed.significant(value)


def _noun(plan: Plan) -> str:
    """What the load counts."""
    several = any(item.session and item.session.turns > 1 for item in plan.workload.classes)
    return "sessions" if several else "requests"


def _capacity(load: dict[str, float], noun: str) -> Iterator[str]:
    most = load["capacity_per_s"]
    if load["rate_per_s"] and most:
        share = printed.percent(load["rate_per_s"] * load["peak"] / most)
        yield _labelled("capacity", f"{printed.rate(most, noun)} at most, {share} of it offered")


def _rejected(rejected: dict[str, float]) -> str:
    counts = (
        ("queue_full", "found the queue full"),
        ("timed_out", "waited too long"),
        ("too_long", "are longer than the cache"),
        ("unserved", "came when no replica served"),
    )
    why = ", ".join(f"{printed.count(rejected[key])} {said}" for key, said in counts if rejected[key])
    return f"{printed.percent(rejected['fraction'])} of requests: {why}" if why else "none"


def _over_time(series: Sequence[Interval]) -> Iterator[str]:
    heads = ("from", "arrived", "rejected", "queue", "running", "cache", "tokens/s out")
    rows = [heads, *(_cells(item) for item in series)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def _cells(item: Interval) -> tuple[str, ...]:
    cache = "n/a" if item.cache is None else printed.percent(item.cache)
    return (
        printed.duration(item.begin_s),
        printed.count(item.arrived),
        printed.count(item.rejected),
        _number(item.queue),
        _number(item.running),
        cache,
        printed.significant(item.output_tokens_per_s),
    )
