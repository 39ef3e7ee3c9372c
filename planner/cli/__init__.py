"""The command line: one module a command, imported only when it is called. The only place that prints and exits."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from planner import __version__
from planner.cli.groups import InterruptedRunError, LazyGroup

COMMANDS = {
    "init": ("planner.cli.init", "init", "Write a commented starter spec that passes `check`."),
    "check": ("planner.cli.check", "check", "Validate, evaluate and judge specs: the CI gate."),
    "report": ("planner.cli.report", "report", "Write Markdown and HTML decision reports."),
    "simulate": ("planner.cli.simulate", "simulate", "Run a load request by request: percentiles, queue, rejections."),
    "calibrate": ("planner.cli.calibrate", "calibrate", "Fit a spec to benchmark output: a Calibration document."),
    "explain": ("planner.cli.explain", "explain", "Explain a finding, a lever, or a figure of a spec."),
    "show": ("planner.cli.show", "show", "Print the effective document, and where each value came from."),
    "catalog": ("planner.cli.catalog", "catalog", "List and show accelerators, models, engines and levers."),
    "import": ("planner.cli.importing", "import_group", "Turn files that you have into documents."),
    "schema": ("planner.cli.schema", "schema", "Print the JSON Schema, for editors."),
}


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: planner check specs/prod.yaml",
)
@click.version_option(__version__, prog_name="planner")
def cli() -> None:
    """Plan before apply for LLM inference.

    Exit status: 0 judged and everything holds; 1 judged and something does not; 2 could not judge
    (130 after Ctrl-C).
    """


def main() -> None:
    """The console script. What escapes is a bug: one line and exit status 2, never a traceback as an answer."""
    sys.exit(_status())


def _status() -> int:
    try:
        found = cli.main(prog_name="planner", standalone_mode=False)
        return found if isinstance(found, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        interrupted = InterruptedRunError("interrupted")
        interrupted.show()
        return interrupted.exit_code
    except RecursionError:
        return _bug("the input nests too deeply")
    except Exception as error:
        return _unwritten(error) or _bug(f"{type(error).__name__} in {_where(error)}")


def _unwritten(error: Exception) -> int:
    """2, with a line, where the help could not be printed: an error of the system that is about no file."""
    if not isinstance(error, OSError) or error.filename is not None or not error.strerror:
        return 0
    from planner.cli.writing import discard

    discard()
    print(f"planner: cannot write to standard output: {error.strerror}", file=sys.stderr)
    return 2


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "planner"
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def _bug(what: str) -> int:
    print(f"planner: internal error ({what}). This is a bug: please report it with the spec.", file=sys.stderr)
    print("Set PLANNER_TRACEBACK=1 to see where it happened.", file=sys.stderr)
    import os

    if os.environ.get("PLANNER_TRACEBACK") == "1":
        import traceback

        traceback.print_exc()
    return 2
