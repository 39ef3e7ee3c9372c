"""planner simulate: one run of the event simulation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from planner import units
from planner.cli import options
from planner.cli.parameters import FILE, SPEC, not_empty
from planner.cli.progress import Progress
from planner.cli.writing import CouldNotError, write
from planner.output import Options
from planner.quoting import visible
from planner.simulate import Asked, NotSimulatedError, Simulated, simulated

MOST_REQUESTS = 1_000_000
MOST_RATES = 1_000
MOST_SEEDS = 10_000
LARGEST_SEED = 2**31


class Quantity(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A quantity with its unit; a bare number where `bare` says of what."""

    def __init__(self, dimension: str, name: str, bare: bool = False) -> None:
        self.dimension, self.name, self.bare = dimension, name, bare

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value)
        if self.bare:
            text = f"{text} request/s" if _is_number(text) else text
        try:
            found = units.si(text, self.dimension)
        except units.UnitError as error:
            self.fail(f"{error.message}; {error.hint}" if error.hint else error.message, param, ctx)
        if not found > 0.0:
            self.fail("more than 0 is expected", param, ctx)
        return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class Rates(Quantity):
    """Several rates with commas between them."""

    def __init__(self) -> None:
        super().__init__("arrival-rate", "rates", bare=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        rates = tuple(super(Rates, self).convert(item.strip(), param, ctx) for item in str(value).split(","))
        if len(rates) > MOST_RATES:
            self.fail(f"{len(rates):,} rates; {MOST_RATES:,} at most", param, ctx)
        return rates


class Seeds(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Whole numbers and ranges: 1,2,5 or 0..9."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        for item in str(value).split(","):
            first, dots, last = item.strip().partition("..")
            ends = (first, last) if dots else (first, first)
            if not all(end.isascii() and end.isdigit() and len(end) < 11 for end in ends):
                self.fail(f"{item.strip()!r} is no seed; write 1,2,5 or 0..9", param, ctx)
            low, high = int(ends[0]), int(ends[1])
            if high > LARGEST_SEED or low > high or len(found) + high - low >= MOST_SEEDS:
                self.fail(f"{item.strip()!r}: up to {MOST_SEEDS:,} seeds from 0 to {LARGEST_SEED}, upwards", param, ctx)
            found += range(low, high + 1)
        return tuple(found)


@click.command(
    epilog="\b\nExamples:\n  planner simulate specs/chat-8b-l4.yaml\n"
    "  planner simulate specs/chat-8b-l4.yaml --rate 0.5"
)
@click.argument("spec", type=SPEC)
@click.option("--trace", type=FILE, help="Recorded traffic in place of the load: CSV or JSON Lines, in the project.")
@click.option(
    "--rate",
    type=Quantity("arrival-rate", "rate", bare=True),
    metavar="RATE",
    help="Arrivals at this rate: requests a second, or with a unit. A trace is made as dense.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, LARGEST_SEED),
    default=1,
    show_default=True,
    metavar="N",
    help="Of arrivals and lengths.",
)
@click.option(
    "--requests",
    type=click.IntRange(1, MOST_REQUESTS),
    metavar="N",
    help="How many to send (default: what percentiles need).",
)
@click.option(
    "--duration", type=Quantity("time", "time"), metavar="TIME", help="For how long they arrive, such as '10 minute'."
)
@click.option("--interval", type=Quantity("time", "time"), metavar="TIME", help="Of the time series, such as '10 s'.")
@click.option("--rates", type=Rates(), metavar="RATE,...", help="A sweep: a run at each of these rates.")
@click.option("--seeds", type=Seeds(), metavar="N..N", help="A sweep: a run with each of these seeds, 0..9 or 1,5.")
@click.option("--scheduler", callback=not_empty, metavar="ADDRESS", help="Make the sweep on this Dask cluster.")
@click.option("--results", type=FILE, help="Keep the runs of a sweep here; what is there is not made again.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print.",
)
@options.OUTPUT
@click.option("--strict", is_flag=True, help="Objectives at risk fail too.")
@options.SETS
@options.COLOR
def simulate(
    spec: Path,
    trace: Path | None,
    rate: float | None,
    seed: int,
    requests: int | None,
    duration: float | None,
    interval: float | None,
    rates: tuple[float, ...] | None,
    seeds: tuple[int, ...] | None,
    scheduler: str | None,
    results: Path | None,
    output_format: str,
    output: Path | None,
    strict: bool,
    sets: tuple[str, ...],
    color: str,
) -> None:
    """Run the load of SPEC, another rate or recorded traffic, request by request.

    Prints percentiles, what was served and turned away, and what happened over time. The same call gives the same
    bytes. The exit status is that of check, with the figures of this run.

    --rates and --seeds make a sweep, a run of every rate with every seed: a table that judges nothing, exit status 0.
    """
    if spec.is_dir():
        raise click.UsageError(f"SPEC is one file; {visible(spec.as_posix())} is a folder.")
    for path in (spec, trace):
        if path is not None and not os.path.lexists(path):
            raise CouldNotError(f"there is no file {visible(path.as_posix())}")
    asked = Asked(seed, rate, _reference(trace, spec), requests, duration, interval)
    _one_way(click.get_current_context(), rates is not None or seeds is not None)
    if rates is not None or seeds is not None:
        from planner.cli.sweep import sweep

        points = ((rate,) if rates is None else rates, (seed,) if seeds is None else seeds)
        where = (scheduler, results)
        raise SystemExit(sweep(spec, asked, points, sets, where, output_format, output, options.colored(color, output)))
    found = _run(spec, asked, sets)
    if not found.judgement.is_deployment:
        raise click.UsageError(f"{visible(spec.as_posix())} is no Deployment; only a Deployment can be simulated.")
    status = options.exit_status([found.judgement], strict=strict, fail_on="error")
    shown = Options(color=options.colored(color, output), failed=status != 0)
    write(_printed(found, output_format, shown), output)
    raise SystemExit(status)


def _one_way(context: click.Context, several: bool) -> None:
    """Refuse options that exclude each other, and options of a sweep where there is none."""
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    for one, other in (("rate", "rates"), ("seed", "seeds")):
        if {one, other} <= given:
            raise click.UsageError(f"--{one} and --{other} exclude each other: keep one.")
    for name in ("scheduler", "results"):
        if name in given and not several:
            raise click.UsageError(f"--{name} is for a sweep: add --rates or --seeds.")
    if several and "interval" in given:
        raise click.UsageError("--interval is for one run: a sweep prints no time series.")


def _run(spec: Path, asked: Asked, sets: tuple[str, ...]) -> Simulated:
    name = spec.as_posix()
    try:
        with Progress("requests") as progress:
            return simulated(spec, asked, display=name, today=options.today(), sets=sets, progress=progress)
    except NotSimulatedError as error:
        raise CouldNotError(f"{visible(name)} cannot be simulated: {error}") from error


def _printed(found: Simulated, output_format: str, shown: Options) -> str:
    if output_format == "json":
        from planner.simulate.figures import as_json

        return as_json(found)
    from planner.simulate.text import as_text

    return as_text(found, shown)


def _reference(trace: Path | None, spec: Path) -> str | None:
    """The trace as a spec would name it: from the spec's folder."""
    if trace is None:
        return None
    try:
        return Path(os.path.relpath(trace.resolve(), spec.resolve().parent)).as_posix()
    except (OSError, ValueError, RuntimeError) as error:
        raise CouldNotError(f"cannot look up {visible(trace.as_posix())}") from error
