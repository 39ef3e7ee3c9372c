"""A wrong value for every argument and option of every command: exit status 2, what was read, the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import Result

from planner.cli import cli

Planner = Callable[..., Result]
SPEC = "specs/feasible.yaml"
BASE = "specs/base.yaml"
# Command line -> what standard error says. Each ends with a way out: the nearest, the choices, or an example.
CALLS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("chek",), "No such command 'chek'. Did you mean 'check'?"),
    (("zzz",), "No such command 'zzz'. Commands: init, check, report"),
    (("--helq",), "Did you mean '--help'?"),
    (("check",), "Missing argument 'SPEC...'"),
    (("check", ""), "an empty path; is a variable not set?"),
    (("check", SPEC, "--formt", "json"), "--format"),
    (("check", SPEC, "--format", "xml"), "'xml' is not one of 'json', 'text'"),
    (("check", SPEC, "--format"), "'--format' requires an argument"),
    (("check", SPEC, "--output", "specs"), "'specs' is a directory"),
    (("check", SPEC, "--output", ""), "an empty path"),
    (("check", SPEC, "--output", "planner.yaml/x"), "cannot write planner.yaml/x: "),
    (("check", SPEC, "--fail-on", "note"), "'note' is not one of 'error', 'warning'"),
    (("check", SPEC, "--strict=yes"), "'--strict' does not take a value"),
    (("check", SPEC, "--color", "blue"), "'blue' is not one of 'auto', 'always', 'never'"),
    (("check", SPEC, "--set"), "'--set' requires an argument"),
    (("check", SPEC, "--set", "nope"), "`nope` is not `/path/to/key=value`; write `/nope=value`"),
    (("check", SPEC, "--set", "engine.name=vllm"), "write `/engine/name=vllm`"),
    (("check", SPEC, "--set", ""), "write `/engine/max_model_len=value`"),
    (("check", SPEC, "--set", "/engine/name=["), "`/engine/name=[`: "),
    (("check", SPEC, "--set", "/extends=x.yaml"), "`extends` cannot be set"),
    (("report",), "Missing argument 'SPEC...'"),
    (("report", ""), "an empty path"),
    (("report", BASE), "only a Deployment has a report"),
    (("report", SPEC, "--format", "pdf"), "'pdf' is not one of 'markdown', 'html'"),
    (("report", SPEC, "--directory", "planner.yaml"), "Directory 'planner.yaml' is a file"),
    (("report", SPEC, "--directory", "planner.yaml/x"), "cannot write planner.yaml/x/feasible.md: "),
    (("report", SPEC, "--directory", ""), "an empty path"),
    (("report", SPEC, "--set", "nope"), "write `/nope=value`"),
    (("report", SPEC, "--check", "--stdout"), "--stdout and --check exclude each other"),
    (("report", SPEC, "--stdout", "--directory", "out"), "--stdout and --directory exclude each other"),
    (("report", SPEC, "--stdout", "--format", "html", "--format", "markdown"), "--stdout prints one --format"),
    (("explain",), "Missing argument 'WHAT'"),
    (("explain", "memory-does-not-fitt"), "Did you mean memory-does-not-fit"),
    (("explain", "zzz"), "`planner catalog list levers` lists levers"),
    (("explain", "decode_step"), "decode_step is a figure of a spec: planner explain decode_step SPEC"),
    (("explain", "memory-does-not-fit", "--set", "/a=1"), "--set needs a SPEC"),
    (("explain", "decode_stp", SPEC), "Did you mean decode_step"),
    (("explain", "zzz", SPEC), "Figures: weights, kv_cache"),
    (("explain", "memory-does-not-fit", SPEC), "leave SPEC out: planner explain memory-does-not-fit"),
    (("explain", "decode_step", "specs"), "SPEC is one file; specs is a folder"),
    (("explain", "decode_step", BASE), "only a Deployment has figures"),
    (("explain", "decode_step", "specs/none.yaml"), "there is no file or folder `specs/none.yaml`"),
    (("explain", "decode_step", ""), "an empty path"),
    (("explain", "decode_step", SPEC, "--set", "nope"), "write `/nope=value`"),
    (("show",), "Missing argument 'SPEC'"),
    (("show", "specs"), "`specs` is a folder, not a file"),
    (("show", "none.yaml"), "there is no file `none.yaml`"),
    (("show", ""), "an empty path"),
    (("show", SPEC, "--format", "xml"), "'xml' is not one of 'yaml', 'json'"),
    (("show", SPEC, "--set", "nope"), "write `/nope=value`"),
    (("show", SPEC, "--set", "/engine/name/x=1"), "set `/engine/name` itself"),
    (("show", SPEC, "--effectiv"), "--effective"),
    (("show", SPEC, "--origin"), "--origins"),
    (("simulate",), "Missing argument 'SPEC'"),
    (("simulate", SPEC, "--trace", "none.csv"), "there is no file none.csv"),
    (("simulate", SPEC, "--rate", "fast"), "fast"),
    (("simulate", SPEC, "--seed", "-1"), "-1 is not in the range 0<=x<=2147483648"),
    (("simulate", SPEC, "--requests", "0"), "0 is not in the range 1<=x<=1000000"),
    (("simulate", SPEC, "--duration", "10"), "10"),
    (("simulate", SPEC, "--interval", "10 B"), "10 B"),
    (("simulate", SPEC, "--format", "xml"), "'xml' is not one of 'text', 'json'"),
    (("simulate", SPEC, "--output", "specs"), "'specs' is a directory"),
    (("simulate", SPEC, "--set", "nope"), "write `/nope=value`"),
    (("simulate", SPEC, "--color", "blue"), "'blue' is not one of 'auto', 'always', 'never'"),
    (("simulate", SPEC, "--rates", "fast"), "`fast` is not a rate"),
    (("simulate", SPEC, "--rates", "1,,2"), "`` is not a rate"),
    (("simulate", SPEC, "--seeds", "a..b"), "'a..b' is no seed"),
    (("simulate", SPEC, "--seeds", "5..1"), "upwards"),
    (("simulate", SPEC, "--scheduler", "tcp://x:1"), "--scheduler is for a sweep"),
    (("simulate", SPEC, "--rates", "1", "--results", "specs"), "'specs' is a directory"),
    (("simulate", SPEC, "--rates", "1", "--rate", "2"), "--rate and --rates exclude each other"),
    (("calibrate", SPEC), "Missing argument 'MEASUREMENTS...'"),
    (("calibrate", SPEC, "none.csv"), "there is no file none.csv"),
    (("calibrate", SPEC, "none.csv", "nor.json"), "there is no file none.csv, nor.json"),
    (("calibrate", SPEC, "none.csv", "--output", "specs"), "'specs' is a directory"),
    (("calibrate", SPEC, "none.csv", "--date", "yesterday"), "write year-month-day"),
    (("calibrate", SPEC, "none.csv", "--set", "nope"), "write `/nope=value`"),
    (("catalog", "lst"), "Did you mean 'list'?"),
    (("catalog", "zzz"), "Commands: list, show"),
    (("catalog", "list", "nope"), "'nope' is not one of 'accelerators'"),
    (("catalog", "list", "--format", "xml"), "'xml' is not one of 'text', 'json'"),
    (("catalog", "list", "--output", "specs"), "'specs' is a directory"),
    (("catalog", "show"), "Missing argument 'NAME'"),
    (("catalog", "show", "h100"), "Nearest: "),
    (("catalog", "show", ""), "`planner catalog list` prints all"),
    (("catalog", "show", "h100-sxm", "--format", "xml"), "'xml' is not one of 'text', 'json'"),
    (("catalog", "show", "h100-sxm", "--output", "planner.yaml/x"), "cannot write planner.yaml/x: "),
    (("import", "modl"), "Did you mean 'model'?"),
    (("import", "zzz"), "Commands: model"),
    (("import", "model"), "Missing argument 'SOURCE'"),
    (("import", "model", ""), "empty text"),
    (("import", "model", "none.json"), "none.json cannot be read: No such file or directory"),
    (("import", "model", "specs"), "specs cannot be read: "),
    (("import", "model", "none.json", "--name", ""), "empty text"),
    (("import", "model", "none.json", "--revision", ""), "empty text"),
    (("import", "model", "none.json", "--output", "specs"), "'specs' is a directory"),
    (("schema", "deploymnt"), "Did you mean 'deployment'?"),
    (("schema", "zzz"), "It is one of accelerator, base, calibration, deployment"),
    (("schema", "zzz", "--check"), "It is one of accelerator, base, calibration, deployment"),
    (("schema", "--check", "--write"), "--write and --check exclude each other"),
    (("init", "A B"), "lower-case letters, digits, dots and dashes, such as support-chat"),
    (("init", "x\n"), "lower-case letters"),
    (("init", "../x"), "lower-case letters"),
    (("init", ""), "lower-case letters"),
    (("init", "feasible"), "specs/feasible.yaml exists; use --force to overwrite it"),
    (("init", "x", "--directory", "planner.yaml"), "Directory 'planner.yaml' is a file"),
    (("init", "x", "--directory", "planner.yaml/y"), "cannot write planner.yaml/y/x.yaml: "),
    (("init", "x", "--forc"), "--force"),
    (("init", "x", "--engine", "vlm"), "'vlm' is not one of 'ideal'"),
    (("init", "x", "--stdout=1"), "'--stdout' does not take a value"),
)


@pytest.mark.parametrize(("arguments", "said"), CALLS, ids=[" ".join(call) for call, _ in CALLS])
def test_says_what_is_wrong(
    arguments: tuple[str, ...], said: str, write: Callable[..., str], planner: Planner, project: Path
) -> None:
    write("feasible")
    write("base", text="apiVersion: planner/v1\nkind: Base\nengine: {name: ideal}\n")
    before = sorted(project.rglob("*"))
    found = planner(*arguments)
    assert found.exit_code == 2
    assert said in found.stderr
    assert found.stdout == ""
    assert "internal error" not in found.stderr
    assert sorted(project.rglob("*")) == before


def test_every_option_that_takes_a_value_is_in_the_table() -> None:
    """Options with a value of their own: a new one needs its wrong value above."""
    called = {(words, word) for words, word in _options_called()}
    for words, command in _commands(cli, ()):
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.is_flag:
                assert any((words, name) in called for name in parameter.opts), f"{words} {parameter.opts}"


def _options_called() -> Iterator[tuple[tuple[str, ...], str]]:
    known = {words for words, _ in _commands(cli, ())}
    for arguments, _ in CALLS:
        words = next((arguments[:size] for size in (2, 1) if arguments[:size] in known), ())
        yield from ((words, word) for word in arguments if word.startswith("--"))


def _commands(group: click.Group, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*words, name))
        else:
            yield (*words, name), command
