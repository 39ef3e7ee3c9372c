"""planner check: the gate."""

from __future__ import annotations

from pathlib import Path

import click

from planner import output as outputs
from planner.cli import options
from planner.cli.judging import judge_all
from planner.cli.parameters import SPEC
from planner.cli.writing import write


@click.command(epilog="Example: planner check specs/ --format json")
@click.argument("specs", nargs=-1, required=True, type=SPEC, metavar="SPEC...")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(outputs.names()),
    default="text",
    show_default=True,
    help="How to print.",
)
@options.OUTPUT
@click.option(
    "--fail-on", type=click.Choice(["error", "warning"]), default="error", show_default=True, help="What fails the run."
)
@click.option("--strict", is_flag=True, help="Objectives at risk fail too.")
@click.option("--verbose", "-v", is_flag=True, help="Print notes whole, which text else counts on one line.")
@options.SETS
@options.COLOR
def check(
    specs: tuple[Path, ...],
    output_format: str,
    output: Path | None,
    fail_on: str,
    strict: bool,
    verbose: bool,
    sets: tuple[str, ...],
    color: str,
) -> None:
    """Validate and evaluate specs, print findings and verdicts.

    A folder stands for the specs below it; its other YAML files are counted. All specs are checked; none hides
    another.
    """
    skipped: list[Path] = []
    judgements = judge_all(specs, sets, skipped)
    status = options.exit_status(judgements, strict=strict, fail_on=fail_on)
    shown = outputs.Options(
        color=options.colored(color, output), failed=status != 0, verbose=verbose, skipped=len(skipped)
    )
    write(outputs.render(output_format, judgements, shown), output)
    raise SystemExit(status)
