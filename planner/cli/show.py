"""planner show: the effective document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from planner import output as outputs
from planner import source
from planner.cli import options, reading
from planner.cli.parameters import SPEC
from planner.cli.writing import write
from planner.findings import Verdict
from planner.pipeline import Judgement
from planner.quoting import plain
from planner.source.document import Document, NodePath


@click.command(epilog="Example: planner show --effective specs/prod.yaml")
@click.argument("spec", type=SPEC)
@click.option("--effective", is_flag=True, help="After `extends` and `--set` (the default; named for scripts).")
@click.option("--origins", is_flag=True, help="The file and line of every value beside it.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="How to print.",
)
@options.SETS
def show(spec: Path, effective: bool, origins: bool, output_format: str, sets: tuple[str, ...]) -> None:
    """Print SPEC as it is after `extends`, with where each value came from."""
    document, findings = reading.load(spec)
    if document is not None:
        document, problems = source.set_values(document, sets)
        findings = (*findings, *problems)
    if document is None or findings:
        could = not any(finding.id in source.COULD_NOT_JUDGE for finding in findings)
        failed = Judgement(reading.shown(spec), None, None, None, tuple(findings), Verdict.INVALID, could)
        click.echo(outputs.render("text", [failed], outputs.Options()), err=True, nl=False)
        raise SystemExit(1 if could else 2)
    text = _json(document, origins) if output_format == "json" else _yaml(document, origins)
    write(text)


def _json(document: Document, origins: bool) -> str:
    body: Any = document.data
    if origins:
        places = {document.pointer(path): str(place) for path, place in document.values.items() if path}
        body = {"document": document.data, "origins": places}
    return json.dumps(body, indent=2, ensure_ascii=True) + "\n"


def _yaml(document: Document, origins: bool) -> str:
    """Block style, a value a line; with origins each line ends with where it was written."""
    lines: list[tuple[str, NodePath]] = []
    _lines(document.data, (), 0, "", lines)
    width = max((len(line) for line, _ in lines), default=0)
    if not origins:
        return "".join(f"{line}\n" for line, _ in lines)
    return "".join(f"{line.ljust(width)}  # {plain_place(document, path)}\n" for line, path in lines)


def plain_place(document: Document, path: NodePath) -> str:
    place = document.location(path)
    return f"{plain(place.file)}:{place.line}"


def _lines(node: Any, path: NodePath, depth: int, lead: str, lines: list[tuple[str, NodePath]]) -> None:
    """One node: a mapping's keys a line each, a list's items behind dashes. lead: the dash of an item, else ""."""
    indent = "  " * depth
    items = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
    for position, (key, child) in enumerate(items):
        begin = indent[: len(indent) - len(lead)] + lead if position == 0 and lead else indent
        here = (*path, key)
        name = f"{_scalar(key)}:" if isinstance(node, dict) else "-"
        if isinstance(child, dict | list) and child:
            if isinstance(node, dict):
                lines.append((f"{begin}{name}", here))
                _lines(child, here, depth + 1, "", lines)
            else:
                _lines(child, here, depth + 1, "- ", lines)
        else:
            lines.append((f"{begin}{name} {_scalar(child)}", here))


def _scalar(value: Any) -> str:
    """As YAML 1.2 reads it back: JSON's spelling, plain words bare."""
    if isinstance(value, str):
        bare = (
            value.isprintable() and value.replace("-", "").replace("/", "").replace(".", "").replace("_", "").isalpha()
        )
        return (
            value
            if bare and value not in ("true", "false", "null", "-", ".") and not value.startswith("-")
            else json.dumps(value)
        )
    return json.dumps(value)
