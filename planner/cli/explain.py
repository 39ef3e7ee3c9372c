"""planner explain: a finding, a lever, an engine; with a spec, a figure."""

from __future__ import annotations

import difflib
import inspect
from pathlib import Path
from types import ModuleType

import click

from planner.cli import options
from planner.cli.parameters import SPEC
from planner.cli.writing import write
from planner.quoting import visible


@click.command(
    epilog="\b\nExamples:\n  planner explain memory-does-not-fit\n  planner explain decode_step specs/prod.yaml"
)
@click.argument("what")
@click.argument("spec", required=False, type=SPEC)
@options.SETS
def explain(what: str, spec: Path | None, sets: tuple[str, ...]) -> None:
    """Explain WHAT: a finding id, a lever or an engine; with SPEC, a figure with its formula, inputs and sources."""
    if spec is not None:
        write(_figure(what, spec, sets))
    elif sets:
        raise click.UsageError("--set needs a SPEC: planner explain FIGURE SPEC --set /PATH=VALUE")
    else:
        write(_topic(what) or _unknown_topic(what))


def _unknown_topic(what: str) -> str:
    """The message for what is no topic."""
    from planner.explanations import figures, topics

    if what in figures():
        raise click.UsageError(f"{what} is a figure of a spec: planner explain {what} SPEC")
    near = difflib.get_close_matches(what, [*topics(), *figures()], n=3)
    hint = f"Did you mean {', '.join(near)}?" if near else f"Figures: {', '.join(figures())}."
    raise click.UsageError(f"nothing is called {what!r}. {hint} `planner catalog list levers` lists levers.")


def _topic(what: str) -> str | None:
    from planner import checks, discovery, engines, levers
    from planner.explanations import CONTRACT

    check = discovery.module(checks.__name__, what)
    if check is not None and what == check.ID:
        return _of_check(check)
    lever = levers.get(what)
    if lever is not None:
        return _of_lever(lever)
    engine = engines.get(what)
    if engine is not None:
        return f"{engine.TITLE} (engine)\n\n{inspect.getdoc(engine)}\n"
    return f"{what}\n\n{CONTRACT[what]}\n" if what in CONTRACT else None


def _of_check(module: ModuleType) -> str:
    body = f"{module.ID} ({module.SEVERITY.value})\n\n{inspect.getdoc(module)}\n"
    files = "".join(f"\nWith {name}:\n{_indented(text)}" for name, text in getattr(module, "FILES", {}).items())
    specs = f"\nA spec that gets it:\n{_indented(module.FAILING)}\nOne that does not:\n{_indented(module.PASSING)}"
    return f"{body}{specs}{files}"


def _of_lever(module: ModuleType) -> str:
    reduces = ", ".join(module.REDUCES) or "none of the four"
    lines = [f"{module.NAME} ({module.CLASS})", "", inspect.getdoc(module) or "", "", f"Lowers: {reduces}."]
    lines += [f"Evaluate ({kind}): {text}" for kind, text in module.EVALUATE]
    lines += [f"With {other}: {why}" for other, why in module.INTERACTS]
    lines += ["Its effect is read off two runs of the same requests."] if getattr(module, "SIMULATED", False) else []
    return "\n".join([*lines, "", "In a spec:", _indented(module.EXAMPLE)])


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip("\n").splitlines())


def _figure(what: str, spec: Path, sets: tuple[str, ...]) -> str:
    from planner import output as outputs
    from planner.cli.judging import judge_all
    from planner.explanations import figure_text

    _known_figure(what)
    if spec.is_dir():
        raise click.UsageError(f"SPEC is one file; {visible(spec.as_posix())} is a folder.")
    judgement = judge_all([spec], sets)[0]
    if not judgement.is_deployment:
        raise click.UsageError(f"{visible(spec.as_posix())} is no Deployment; only a Deployment has figures.")
    text = figure_text(what, judgement)
    if text is None:
        click.echo(outputs.render("text", [judgement], outputs.Options()), err=True, nl=False)
        raise SystemExit(1 if judgement.judged else 2)
    return text


def _known_figure(what: str) -> None:
    from planner.explanations import figures, topics

    if what in figures():
        return
    if what in topics():
        raise click.UsageError(f"{what} is not a figure; leave SPEC out: planner explain {what}")
    near = difflib.get_close_matches(what, figures(), n=3, cutoff=0.4)
    hint = f"Did you mean {', '.join(near)}?" if near else f"Figures: {', '.join(figures())}."
    raise click.UsageError(f"no figure is called {what!r}. {hint}")
