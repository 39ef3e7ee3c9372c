"""The command line: one module a command, imported only when it is called. The only place that prints and exits."""

from __future__ import annotations

import difflib
import importlib
import sys
from pathlib import Path

import click

from planner import __version__

# command -> (module, attribute, the line that `planner --help` shows). Help must not import the commands.
COMMANDS = {
    "init": ("planner.cli.init", "init", "Write a commented starter spec that passes `check`."),
    "check": ("planner.cli.check", "check", "Validate, evaluate and judge specs: the CI gate."),
    "report": ("planner.cli.report", "report", "Write Markdown and HTML decision reports."),
    "explain": ("planner.cli.explain", "explain", "Explain a finding, a lever, or a figure of a spec."),
    "show": ("planner.cli.show", "show", "Print the effective document, and where each value came from."),
    "catalog": ("planner.cli.catalog", "catalog", "List and show accelerators, models, engines and levers."),
    "import": ("planner.cli.importing", "import_group", "Turn files that you have into documents."),
    "schema": ("planner.cli.schema", "schema", "Print the JSON Schema, for editors."),
}


class LazyGroup(click.Group):
    """Commands by name; an unknown one suggests the nearest."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: planner check specs/prod.yaml",
)
@click.version_option(__version__, prog_name="planner")
def cli() -> None:
    """Plan before apply for LLM inference.

    Exit status: 0 judged and everything holds; 1 judged and something does not; 2 could not judge.
    """


def main() -> None:
    """The console script. What escapes is a bug: one line and exit status 2, never a traceback as an answer."""
    try:
        cli.main(prog_name="planner", standalone_mode=True)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except RecursionError:
        _bug("the input nests too deeply")
    except BrokenPipeError:
        sys.exit(2)
    except Exception as error:
        _bug(f"{type(error).__name__} in {_where(error)}")


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "planner"
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def _bug(what: str) -> None:
    print(f"planner: internal error ({what}). This is a bug: please report it with the spec.", file=sys.stderr)
    print("Set PLANNER_TRACEBACK=1 to see where it happened.", file=sys.stderr)
    import os

    if os.environ.get("PLANNER_TRACEBACK") == "1":
        import traceback

        traceback.print_exc()
    sys.exit(2)
