"""planner report: the decision report of each spec, or whether the committed one is stale."""

from __future__ import annotations

from pathlib import Path

import click

from planner.cli import options
from planner.cli.judging import judge_all
from planner.cli.parameters import FOLDER, SPEC
from planner.cli.writing import CouldNotError, write, write_whole
from planner.pipeline import Judgement
from planner.project import project_of
from planner.quoting import visible

SUFFIXES = {"markdown": "md", "html": "html"}


@click.command(epilog="Example: planner report specs/prod.yaml")
@click.argument("specs", nargs=-1, required=True, type=SPEC, metavar="SPEC...")
@click.option(
    "--format", "formats", type=click.Choice(["markdown", "html"]), multiple=True, help="Only this one (default: both)."
)
@click.option("--directory", "-d", type=FOLDER, help="Where to write (default: the project's `reports`).")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; fail when a report is missing or stale.")
@click.option("--stdout", is_flag=True, help="Print in place of writing files: Markdown, or the one --format.")
@options.SETS
def report(
    specs: tuple[Path, ...],
    formats: tuple[str, ...],
    directory: Path | None,
    only_check: bool,
    stdout: bool,
    sets: tuple[str, ...],
) -> None:
    """Write the Markdown and HTML decision report of each spec, and of a folder the index over all.

    A spec that is invalid gets no report: its errors are printed, and the exit status is 1.
    """
    _one_place(formats, directory, only_check, stdout)
    judgements = [item for item in judge_all(specs, sets) if item.is_deployment]
    status, alone = 0, judgements
    if not stdout:
        alone = _alone(judgements, directory)
        status = 1 if len(alone) < len(judgements) else 0
    for judgement in alone:
        status = max(status, _one(judgement, formats or ("markdown", "html"), directory, only_check, stdout))
    if any(spec.is_dir() for spec in specs) and judgements and not stdout:
        status = max(status, _indexes(judgements, formats or ("markdown", "html"), directory, only_check))
    if not judgements:
        click.echo("there is no Deployment among these specs; only a Deployment has a report", err=True)
        status = 2
    raise SystemExit(status)


def _one_place(formats: tuple[str, ...], directory: Path | None, only_check: bool, stdout: bool) -> None:
    """Refuse options that say different things about where the report goes."""
    if stdout and (only_check or directory is not None):
        other = "--check" if only_check else "--directory"
        raise click.UsageError(f"--stdout and {other} exclude each other: keep one.")
    if stdout and len(set(formats)) > 1:
        raise click.UsageError("--stdout prints one --format: keep one.")


def _alone(judgements: list[Judgement], directory: Path | None) -> list[Judgement]:
    """Those whose report no other would overwrite; of the others, what they share is said."""
    places: dict[Path, list[Judgement]] = {}
    for item in judgements:
        if item.plan is not None:
            folder = directory if directory is not None else _folder(item)
            places.setdefault(folder / item.plan.name, []).append(item)
    shared = {path: items for path, items in places.items() if len(items) > 1}
    for path, items in shared.items():
        files = ", ".join(visible(item.file) for item in items)
        message = f"{visible(path.as_posix())} would be the report of several: give each a metadata.name of its own"
        click.echo(f"{message} ({files})", err=True)
    refused = {id(item) for items in shared.values() for item in items}
    return [item for item in judgements if id(item) not in refused]


def _one(judgement: Judgement, formats: tuple[str, ...], directory: Path | None, only_check: bool, stdout: bool) -> int:
    from planner import output as outputs
    from planner.reporting import texts

    if judgement.plan is None:
        click.echo(outputs.render("text", [judgement], outputs.Options()), err=True, nl=False)
        return 2 if not judgement.judged else 1
    rendered = texts(judgement, formats)
    if stdout:
        write(rendered.get("markdown", next(iter(rendered.values()))))
        return 0
    folder = directory if directory is not None else _folder(judgement)
    status = 0
    for kind, text in rendered.items():
        path = folder / f"{judgement.plan.name}.{SUFFIXES[kind]}"
        status = max(status, _stale(path, text) if only_check else _written(path, text))
    return status


def _indexes(judgements: list[Judgement], formats: tuple[str, ...], directory: Path | None, only_check: bool) -> int:
    """One index a report folder, over the deployments whose reports stand in it."""
    from planner.reporting import index_texts

    folders: dict[Path, list[Judgement]] = {}
    for judgement in judgements:
        if directory is not None or judgement.document is not None:
            folders.setdefault(directory if directory is not None else _folder(judgement), []).append(judgement)
    status = 0
    for folder, inside in folders.items():
        if any(item.plan is not None and item.plan.name == "index" for item in inside):
            click.echo("a deployment is called index, as the index over all is: give it another name", err=True)
            status = 1
            continue
        for kind, text in index_texts(inside, formats).items():
            path = folder / f"index.{SUFFIXES[kind]}"
            status = max(status, _stale(path, text) if only_check else _written(path, text))
    return status


def _folder(judgement: Judgement) -> Path:
    """The project's report folder, as a path from where the caller stands where that is possible."""
    assert judgement.document is not None
    root = judgement.document.root
    folder = root / project_of(root).reports
    if not folder.resolve().is_relative_to(root):
        raise CouldNotError(f"{visible(folder.as_posix())} leads outside the project: give --directory")
    here = Path.cwd().resolve()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _written(path: Path, text: str) -> int:
    write_whole(path, text)
    click.echo(f"wrote {visible(path.as_posix())}", err=True)
    return 0


def _stale(path: Path, text: str) -> int:
    try:
        fresh = path.read_bytes() == text.encode("utf-8")
    except OSError:
        write(f"{visible(path.as_posix())}: missing; run `planner report`\n")
        return 1
    if not fresh:
        write(f"{visible(path.as_posix())}: stale; run `planner report`\n")
    return 0 if fresh else 1
