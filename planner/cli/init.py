"""planner init: a starter spec."""

from __future__ import annotations

import re
from pathlib import Path

import click

from planner import engines, source
from planner.cli.parameters import FOLDER
from planner.cli.writing import write, write_whole
from planner.project import FILE
from planner.quoting import visible

NAME = re.compile(r"^[a-z0-9][a-z0-9.-]*")
STARTER = """\
{schema}
apiVersion: planner/v1
kind: Deployment
metadata:
  name: {name}
  description: What it is for, in a sentence.

model:
  ref: meta-llama/Llama-3.1-8B-Instruct    # a catalogue name (`planner catalog list models`),
                                           # or  config: ./config.json  beside this file

hardware:
  accelerator: l40s                        # a catalogue name (`planner catalog list accelerators`)
  count: 1                                 # accelerators in one replica
  replicas: 1
  price: 1.86 USD/hour                     # per accelerator; the catalogue's list price if left out

engine:
  name: {engine:<34} # {engines}; ideal is a floor{version}
  tensor_parallel_size: 1
  max_model_len: 8192
  max_num_seqs: 16

workload:
  load: {{concurrency: 8}}                   # or  rate: 2 request/s ; or  offline: true
  classes:
    - name: chat
      prompt_tokens: {{p50: 800, p95: 2500, max: 6000}}
      output_tokens: {{p50: 200, p95: 600, max: 1500}}

objectives:                                # what must hold: latencies at a percentile, speed, cost
  time_to_first_token: {{p95: 5 s}}
  inter_token_latency: {{mean: 200 ms}}
  output_tokens_per_second: {{min: 50 token/s}}
  rejected_requests: {{max: 1 %}}

levers:                                    # a stack: adopt (the default), consider or reject each
  - use: quantize-weights                  # `planner catalog list levers`
    format: {weights}
    status: consider                       # evaluated and reported, not shipped
"""


VERSION = """
  version: "{}"                          # defaults belong to a version, so name it"""
COMPLETED = "# yaml-language-server: $schema=../schema/v1/deployment.schema.json"
NOT_YET = """\
# For completion in an editor: `planner schema deployment > deployment.schema.json`, and begin this file with
# `yaml-language-server: $schema=../deployment.schema.json`"""
PROJECT = """\
# The root of the project: no reference of a spec leaves this folder.
apiVersion: planner/v1
kind: Project
# reports: reports                         # where `planner report` writes
# catalogue: [./catalogue]                 # your own accelerators and models, before the built-in ones
# severities: {memory-headroom-low: error} # what a finding is worth here
"""


@click.command(epilog="Example: planner init support-chat --engine sglang")
@click.argument("name", default="starter")
@click.option(
    "--engine", type=click.Choice(engines.names()), default="vllm", show_default=True, help="What serves the model."
)
@click.option("--directory", "-d", type=FOLDER, default=Path("specs"), show_default=True, help="Where to write.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@click.option("--stdout", is_flag=True, help="Print it in place of writing a file.")
def init(name: str, engine: str, directory: Path, force: bool, stdout: bool) -> None:
    """Write a commented starter spec NAME that passes `planner check`.

    Where there is no project yet, a planner.yaml is written beside the folder of the spec.
    """
    if not NAME.fullmatch(name):
        raise click.UsageError("NAME is lower-case letters, digits, dots and dashes, such as support-chat.")
    text = _spec(name, engine, directory)
    if stdout:
        write(text)
        return
    path = directory / f"{name}.yaml"
    if path.exists() and not force:
        raise click.UsageError(f"{visible(path.as_posix())} exists; use --force to overwrite it.")
    new = source.find_root(path.parent) is None
    write_whole(path, text)
    if new:
        project = directory.parent / FILE
        write_whole(project, PROJECT)
        click.echo(f"wrote {visible(project.as_posix())}", err=True)
    click.echo(f"wrote {visible(path.as_posix())}; next: planner check {visible(path.as_posix())}", err=True)


def _spec(name: str, engine: str, directory: Path) -> str:
    starter = getattr(engines.get(engine), "STARTER", {})
    version = VERSION.format(starter["version"]) if "version" in starter else ""
    known = (directory.parent / "schema" / "v1" / "deployment.schema.json").is_file()
    return STARTER.format(
        name=name,
        schema=COMPLETED if known else NOT_YET,
        engine=engine,
        engines=", ".join(engines.names()),
        version=version,
        weights=starter.get("weights", "fp8"),
    )
