"""planner import model: a config.json or a GGUF header as a Model document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from planner.architectures import document, document_text
from planner.bind.config_file import read_config_file
from planner.cli import hub, options
from planner.cli.parameters import not_empty
from planner.cli.writing import CouldNotError, write
from planner.domain.model import Model
from planner.domain.shards import stored_bytes
from planner.findings import Finding, Severity
from planner.quoting import visible

TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read, and from where. model: None after errors."""

    model: Model | None
    findings: Sequence[Finding]
    source: str
    revision: str = ""


@click.command("model", epilog="Example: planner import model config.json --output specs/models/mine.yaml")
@click.argument("source", callback=not_empty)
@options.OUTPUT
@click.option(
    "--name", callback=not_empty, help="What the model is called (owner/name). Left out: from the file's name."
)
@click.option(
    "--revision", callback=not_empty, help="Commit or tag that was published; with hf: the one that is fetched."
)
def import_model(source: str, output: Path | None, name: str | None, revision: str | None) -> None:
    """Write a Model document from SOURCE: a config.json, a GGUF file, or hf:owner/name.

    Only hf: uses the network. A document in a catalogue folder of planner.yaml can be named by `model: {ref: ...}`.
    """
    if source.startswith(hub.PREFIX):
        found = _from_hub(source.removeprefix(hub.PREFIX), name, revision)
    else:
        found = from_file(Path(source), name, revision or "")
    for finding in found.findings:
        click.echo(visible_line(finding), err=True)
    if found.model is None or any(finding.severity is Severity.ERROR for finding in found.findings):
        raise SystemExit(1)
    written = document.to_document(found.model, source=found.source, revision=found.revision)
    write(document_text.text(written), output)


def from_file(path: Path, name: str | None = None, revision: str = "") -> Imported:
    """A config.json with what stands beside it, or a GGUF header. Raises CouldNotError."""
    called = name or name_of(path)
    try:
        with path.open("rb") as stream:
            is_gguf = stream.read(4) == b"GGUF"
        if is_gguf:
            from planner.architectures.gguf import read_gguf

            model, findings = read_gguf(path, name=name)
        else:
            model, found = read_config_file(path, name=called)
            findings = list(found)
    except OSError as error:
        raise CouldNotError(f"{visible(path.as_posix())} cannot be read: {error.strerror}") from error
    return Imported(model, findings, path.name, revision)


def name_of(path: Path) -> str:
    """`owner--name.json` is owner/name; `config.json` takes its folder's name."""
    stem = path.absolute().parent.name if path.stem == "config" else path.stem
    return stem.replace("--", "/", 1) or "model"


def _from_hub(repository: str, name: str | None, revision: str | None) -> Imported:
    fetched = hub.fetch(repository, revision)
    model, findings = read_config_file(fetched.config, name=name or fetched.name)
    said = list(findings)
    if model is not None and fetched.checkpoint_bytes is not None:
        said += compare(model, fetched.checkpoint_bytes)
    return Imported(model, said, f"https://huggingface.co/{fetched.name}", fetched.revision)


def compare(model: Model, checkpoint_bytes: int) -> list[Finding]:
    """A warning where the checkpoint's tensors are not what the description adds up to, prediction layers or not."""
    main = math.fsum(count * stored_bytes(weight, model) for count, weight in model.weights())
    extra = math.fsum(
        [group.count * stored_bytes(weight, model) for group in model.prediction_layers for weight in group.weights()]
        + [stored_bytes(weight, model) for weight in model.prediction_extra]
    )
    nearest = min((main, main + extra), key=lambda counted: abs(counted - checkpoint_bytes))
    difference = nearest / checkpoint_bytes - 1
    if abs(difference) <= TOLERANCE:
        return []
    message = (
        f"the description holds {nearest / 1e9:.2f} GB of weights, the checkpoint's index says "
        f"{checkpoint_bytes / 1e9:.2f} GB: {difference:+.1%}"
    )
    values = {"weights_bytes": nearest, "checkpoint_bytes": checkpoint_bytes}
    hint = "Compare the parameter count and the stored precision with the publisher's."
    return [Finding("model-weight-bytes-differ", Severity.WARNING, message, hint, values=values)]


def visible_line(finding: Finding) -> str:
    """One finding on one line."""
    hint = f" {finding.hint}" if finding.hint else ""
    return visible(f"{finding.severity}: {finding.message} [{finding.id}].{hint}")
