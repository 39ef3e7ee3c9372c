"""Groups of commands: an unknown one suggests the nearest, and modules are imported only when they are called."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import IO, Any

import click

Table = Mapping[str, tuple[str, str, str]]
"""Command -> (module, attribute, the line that the group's help shows). Help imports none of them."""


class InterruptedRunError(click.ClickException):
    """Ctrl-C. Exit status: 128 and the number of the signal, as shells have it."""

    exit_code = 130

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"planner: {self.message}", file=file, err=True)


class Group(click.Group):
    """A group whose message for an unknown command names the nearest, or all of them."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptedRunError("interrupted") from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            near = difflib.get_close_matches(args[0], known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands: {', '.join(known)}."
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """A group that imports the module of a command when the command is called."""

    def __init__(self, *args: object, table: Table, **attributes: object) -> None:
        super().__init__(*args, **attributes)  # type: ignore[arg-type]
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, attribute, _ = self.table[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in self.table.items()])
