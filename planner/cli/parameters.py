"""Types of arguments and options. A wrong one is a wrong call: exit status 2, before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from planner.source import assignment_problem


class _Named(click.Path):
    """A path that is not empty: an empty one is a variable that was not set, never the working folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty path; is a variable not set?", param, ctx)
        return super().convert(value, param, ctx)


def not_empty(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Callback of text that must say something."""
    if value == "":
        raise click.BadParameter("empty text; is a variable not set?", ctx, param)
    return value


def assignments(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Callback of `/path/to/key=value` options, the value in YAML."""
    for text in value:
        problem = assignment_problem(text)
        if problem:
            raise click.BadParameter(problem, ctx, param)
    return value


SPEC = _Named(path_type=Path)
FILE = _Named(dir_okay=False, path_type=Path)
FOLDER = _Named(file_okay=False, path_type=Path)
