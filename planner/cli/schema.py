"""planner schema: the JSON Schema of the language."""

from __future__ import annotations

import difflib

import click

from planner import schema_composer as composer
from planner.cli.writing import write


@click.command(epilog="Example: planner schema deployment")
@click.argument("kind", default="deployment")
@click.option("--write", "writing", is_flag=True, help="Compose the committed files from the core and the modules.")
@click.option("--check", "checking", is_flag=True, help="Write nothing; fail when a committed file is stale.")
def schema(kind: str, writing: bool, checking: bool) -> None:
    """Print the JSON Schema of KIND: deployment, base, accelerator, model, project, result, simulation or sweep."""
    if kind not in composer.kinds():
        near = difflib.get_close_matches(kind, composer.kinds(), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"It is one of {', '.join(composer.kinds())}."
        raise click.UsageError(f"no schema is called {kind!r}. {hint}")
    if writing and checking:
        raise click.UsageError("--write and --check exclude each other: keep one.")
    if writing:
        for name in composer.write():
            click.echo(f"wrote {name}", err=True)
    elif checking:
        stale = composer.stale()
        write("".join(f"{name}: stale; run `planner schema --write`\n" for name in stale))
        raise SystemExit(1 if stale else 0)
    else:
        write(composer.text(kind))
