"""planner schema: the JSON Schema of the language."""

from __future__ import annotations

import difflib

import click

from planner import schema_composer as composer
from planner.cli import options


@click.command(epilog="Example: planner schema deployment > deployment.schema.json")
@click.argument("kind", default="deployment")
@click.option("--write", is_flag=True, help="Compose the committed files from the core and the modules.")
@click.option("--check", is_flag=True, help="Write nothing; fail when a committed file is stale.")
def schema(kind: str, write: bool, check: bool) -> None:
    """Print the JSON Schema of KIND: deployment, base, accelerator, model, project or result."""
    if write:
        for name in composer.write():
            click.echo(f"wrote {name}", err=True)
        return
    if check:
        stale = composer.stale()
        for name in stale:
            click.echo(f"{name}: stale; run `planner schema --write`")
        raise SystemExit(1 if stale else 0)
    if kind not in composer.kinds():
        near = difflib.get_close_matches(kind, composer.kinds(), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"It is one of {', '.join(composer.kinds())}."
        raise click.UsageError(f"no schema is called {kind!r}. {hint}")
    options.write(composer.text(kind), None)
