"""Links lead somewhere, every finding has its explanation, and README shows commands that exist and what they print."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from planner import checks, discovery, engines, levers, schema_reference
from planner.cli import COMMANDS, cli
from planner.schema_composer import compose

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in (
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("benchmarks/*.md"),
        *ROOT.glob("reports/*.md"),
    )
    if path.is_file()
)
LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)[^)]*\)")
ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
# Functions that make a finding, and where its id stands among their arguments.
MAKERS = {"Finding": 0, "Problem": 0, "fault": 0, "_stop": 0, "_add": 0}


def outside_code(text: str) -> str:
    """The page without fenced blocks and code spans."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub spells them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[path.relative_to(ROOT).as_posix() for path in PAGES])
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(outside_code(page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        found = (page.parent / file) if file else page
        assert found.exists(), f"{target} does not exist"
        if anchor:
            assert anchor in anchors(found), f"{target}: no such heading"


def explained(what: str) -> str:
    found = CliRunner().invoke(cli, ["explain", what])
    assert found.exit_code == 0, f"{what}: {found.stderr}"
    return found.stdout


@cache
def finding_ids() -> tuple[str, ...]:
    """Every id that the code gives a finding, read from the calls that make one."""
    found = {module.ID for module in discovery.modules(checks.__name__)}
    for file in sorted((ROOT / "planner").rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        found |= set(_of_models(tree, file.stem) if file.parent.name == "architectures" else _plain(tree))
    return tuple(sorted(found))


def _calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            yield name, node


def _plain(tree: ast.AST) -> Iterator[str]:
    for name, call in _calls(tree):
        if name in MAKERS and len(call.args) > MAKERS[name]:
            value = getattr(call.args[MAKERS[name]], "value", None)
            if isinstance(value, str) and ID.fullmatch(value):
                yield value


def _of_models(tree: ast.AST, stem: str) -> Iterator[str]:
    """Readers of models spell an id in two parts: `model-config-`, and what is wrong."""
    source = "gguf" if stem.startswith("gguf") else "document" if stem.startswith("document") else "config"
    yield from (value for value in _plain(tree) if value.startswith("model-"))
    for name, call in _calls(tree):
        values = [keyword.value for keyword in call.keywords if keyword.arg == "slug"]
        values += call.args[:2] if name == "error" else call.args[:1] if name == "fault" else []
        for value in values:
            text = getattr(value, "value", None)
            if isinstance(text, str) and re.fullmatch(r"[a-z]+(-[a-z]+)*", text) and text not in ("document", "model"):
                yield f"model-{source}-{text}"


def test_the_ids_are_found() -> None:
    """The reading of the source finds what is known to be there, from each kind of call."""
    some = {"memory-does-not-fit", "yaml-tab", "file-not-found", "unit-error", "unknown-model", "waiver-expired"}
    assert some | {"model-config-heads", "model-document-kind", "yaml-alias"} <= set(finding_ids())


def test_every_finding_is_explained() -> None:
    for finding in finding_ids():
        assert len(explained(finding).splitlines()) > 2, finding


@pytest.mark.parametrize("name", (*levers.names(), *engines.names()))
def test_levers_and_engines_are_explained(name: str) -> None:
    assert len(explained(name).split()) > 10


def readme_commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("planner ")]


def test_readme_begins_with_the_two_commands_and_that_of_the_tests() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    first = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[:3]
    assert first == [
        "pip install .\n",
        "planner check specs/prod.yaml\n",
        "pip install -e '.[test]' && pytest -n auto --dist worksteal\n",
    ]


@pytest.mark.parametrize("line", readme_commands())
def test_readme_commands_run(line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From the root of a checkout; what writes, writes elsewhere."""
    monkeypatch.chdir(ROOT)
    arguments = shlex.split(line, comments=True)[1:]
    elsewhere = ["--directory", str(tmp_path)] if arguments[0] in ("report", "init") else []
    found = CliRunner().invoke(cli, [*arguments, *elsewhere])
    assert found.exit_code == 0, found.output


def test_readme_lists_every_command() -> None:
    rows = re.findall(r"^\| `planner (\w+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(COMMANDS)


def test_readme_shows_a_finding_as_it_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The block after `What it says` is what the command above it prints, but for lines left out at `…`."""
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"^```console\n\$ planner (.*?)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert shown
    for command, lines in shown:
        printed = CliRunner().invoke(cli, shlex.split(command)).output.splitlines()
        missing = [line for line in lines.splitlines() if line != "…" and line not in printed]
        assert not missing, command


def test_the_reference_of_the_spec_language_is_not_stale() -> None:
    assert (ROOT / "docs" / "spec-language.md").read_text("utf-8") == schema_reference.page(), (
        "stale: run `python -m planner.schema_reference`"
    )


def test_the_reference_has_every_key_of_a_deployment() -> None:
    """Each key that any definition of the schema has, but for overlays and parts, which repeat them."""
    page = schema_reference.page()
    for name, definition in compose("deployment")["$defs"].items():
        if name.startswith("partial:") or name == "overlay":
            continue
        for key, part in definition.get("properties", {}).items():
            assert part is True or re.search(rf"[`.]{re.escape(key)}`", page), f"{name}: {key}"


def test_examples_of_the_reference_read_as_they_should() -> None:
    page = schema_reference.page()
    assert "| `engine.version` | text | the engine version's own |" in page
    assert '`version: "0.11"`' in page
    assert "| `model.weights` | text | `published` |" in page
    assert "| `hardware.price` | [price](#units) | the catalogue's price |" in page
    assert "| `objectives.inter_token_latency` | as `objectives.time_to_first_token` |" in page
