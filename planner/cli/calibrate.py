"""planner calibrate: benchmark output to a Calibration document."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import click

from planner import __version__
from planner.cli import options
from planner.cli.parameters import SPEC
from planner.cli.writing import CouldNotError, write
from planner.domain.measurement import Measurement
from planner.findings import Finding, Verdict
from planner.pipeline import Judgement
from planner.quoting import visible


def _day(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else datetime.date.fromisoformat(value).isoformat()
    except ValueError:
        raise click.BadParameter("write year-month-day, as 2026-11-30") from None


@click.command(epilog="Example: planner calibrate specs/prod.yaml bench.yaml -o measured.yaml")
@click.argument("spec", type=SPEC)
@click.argument("measurements", nargs=-1, required=True, type=SPEC, metavar="MEASUREMENTS...")
@options.OUTPUT
@click.option("--date", "date", callback=_day, metavar="DATE", help="Day of the measurements, where no file says it.")
@options.SETS
def calibrate(
    spec: Path, measurements: tuple[Path, ...], output: Path | None, date: str | None, sets: tuple[str, ...]
) -> None:
    """Fit the few physical scalars of SPEC to MEASUREMENTS, and write a Calibration document.

    Reads the output of vllm bench serve, sglang.bench_serving, guidellm, AIPerf and GenAI-Perf, llama-bench and
    trtllm-bench, start-up logs of vLLM and SGLang, and Measurement documents. Points are listed on standard error.
    """
    from planner import calibrating
    from planner.calibration import calibrate as fitted
    from planner.calibration.document import text

    missing = [visible(path.as_posix()) for path in measurements if not os.path.lexists(path)]
    if missing:
        raise CouldNotError(f"there is no file {', '.join(missing)}")
    plan, findings = calibrating.planned(spec, spec.as_posix(), sets)
    found, problems = _read(measurements)
    if plan is None or problems:
        _refuse(measurements[0] if plan is not None and len(measurements) == 1 else spec, (*findings, *problems))
    assert plan is not None
    day = max([item.date for item in found if item.date] or [""]) or date
    if day is None:
        raise click.UsageError("no file says when it was measured: give --date, as --date 2026-11-30")
    outcome = fitted(plan, found)
    click.echo("".join(f"{line}\n" for line in calibrating.summary(outcome)), err=True, nl=False)
    if not outcome.used and not any(item.memory for item in found):
        click.echo("no point can be used; nothing is written", err=True)
        raise SystemExit(1)
    write(text(plan, outcome, found, day, __version__), output)
    if output is not None:
        click.echo(f"wrote {visible(output.as_posix())}; in the spec: calibration: ./{visible(output.name)}", err=True)


def _read(paths: tuple[Path, ...]) -> tuple[tuple[Measurement, ...], tuple[Finding, ...]]:
    from planner import calibrating

    found: list[Measurement] = []
    problems: list[Finding] = []
    for path in paths:
        measured, findings = calibrating.measured(path, path.as_posix())
        found += measured
        problems += [item for item in findings if item.verdict is Verdict.INVALID]
    return tuple(found), tuple(problems)


def _refuse(at_fault: Path, findings: tuple[Finding, ...]) -> None:
    """Every problem at once. Exit status 2 where a file could not be read at all, else 1."""
    from planner import output as outputs
    from planner import source

    could = not any(finding.id in source.COULD_NOT_JUDGE for finding in findings)
    failed = Judgement(at_fault.as_posix(), None, None, None, findings, Verdict.INVALID, could)
    click.echo(outputs.render("text", [failed], outputs.Options()), err=True, nl=False)
    raise SystemExit(1 if could else 2)
