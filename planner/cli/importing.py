"""planner import: files that you have, turned into documents."""

from __future__ import annotations

import importlib

import click

# command -> (module, attribute, the line that `planner import --help` shows). Help imports none of them.
COMMANDS = {
    "model": ("planner.cli.import_model", "import_model", "A config.json, a GGUF header or hf:owner/name."),
}


class LazyImports(click.Group):
    """One module a kind of file, imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.group(
    name="import", cls=LazyImports, epilog="Example: planner import model config.json -o specs/models/mine.yaml"
)
def import_group() -> None:
    """Turn files that you have into documents."""
