"""Many runs of one spec: here, one after another, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from planner.cli import options
from planner.cli.progress import Progress
from planner.cli.sweep_results import Results
from planner.cli.writing import CouldNotError, write
from planner.domain.plan import Plan
from planner.output import Options
from planner.quoting import visible
from planner.simulate.asked import Asked, NotSimulatedError
from planner.simulate.sweep import MOST_RUNS, Row, Sweep, as_json, prepared, row
from planner.simulate.sweep_text import as_text

Points = tuple[Sequence[float | None], Sequence[int]]


def sweep(
    spec: Path, base: Asked, points: Points, sets: tuple[str, ...], where: tuple[str | None, Path | None],
    output_format: str, output: Path | None, color: bool,
) -> int:  # fmt: skip
    """Make and print it; the exit status. points: rates and seeds. where: the scheduler, and the results file."""
    rates, seeds = points
    if len(rates) * len(seeds) > MOST_RUNS:
        raise click.UsageError(f"{len(rates) * len(seeds):,} runs; {MOST_RUNS:,} at most.")
    name = spec.as_posix()
    try:
        found = prepared(spec, base, rates, seeds, display=name, today=options.today(), sets=sets)
    except NotSimulatedError as error:
        raise CouldNotError(f"{visible(name)} cannot be simulated: {error}") from error
    if not found.judgement.is_deployment:
        raise click.UsageError(f"{visible(name)} is no Deployment; only a Deployment can be simulated.")
    rows = _rows(found, *where) if found.plan is not None else []
    text = as_json(found, rows) if output_format == "json" else as_text(found, rows, Options(color=color))
    write(text, output)
    if found.plan is not None:
        return 0
    return 1 if found.judgement.judged else 2


def _rows(found: Sweep, scheduler: str | None, path: Path | None) -> list[Row]:
    """Every run, in the order asked; those that are in the results file are taken from there."""
    assert found.plan is not None
    results = Results(path)
    keys = {found.key(asked): asked for asked in found.asked}
    missing = {key: asked for key, asked in keys.items() if results.get(key) is None}
    try:
        with Progress("runs") as progress:
            for done, (key, made) in enumerate(_made(found.plan, missing, scheduler, found.digest), 1):
                results.add(key, made)
                progress(len(keys) - len(missing) + done, len(keys))
    finally:
        results.save()
    return [results.get(key) for key in keys]


def _made(plan: Plan, missing: Mapping[str, Asked], scheduler: str | None, digest: str) -> Iterator[tuple[str, Row]]:
    if scheduler is not None and missing:
        from planner.cli import cluster

        yield from cluster.rows(scheduler, plan, missing, digest)
        return
    for key, asked in missing.items():
        yield key, row(plan, asked)
