"""planner import: files that you have, turned into documents."""

from __future__ import annotations

import click

from planner.cli.groups import LazyGroup

COMMANDS = {
    "model": ("planner.cli.import_model", "import_model", "A config.json, a GGUF header or hf:owner/name."),
}


@click.group(
    name="import",
    cls=LazyGroup,
    table=COMMANDS,
    epilog="Example: planner import model config.json --output specs/models/mine.yaml",
)
def import_group() -> None:
    """Turn files that you have into documents."""
