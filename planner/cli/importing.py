"""planner import: files that you have, turned into documents."""

from __future__ import annotations

import click


@click.group(name="import", epilog="Example: planner import model config.json -o specs/models/mine.yaml")
def import_group() -> None:
    """Turn files that you have into documents."""
