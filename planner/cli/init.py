"""planner init: a starter spec."""

from __future__ import annotations

import re
from pathlib import Path

import click

from planner.cli.parameters import FOLDER
from planner.cli.writing import write, write_whole

NAME = re.compile(r"^[a-z0-9][a-z0-9.-]*")
STARTER = """\
# yaml-language-server: $schema={schema}
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
  name: vllm                               # vllm, sglang, tensorrt-llm, llama-cpp, or ideal for a floor
  version: "0.11"                          # defaults belong to a version, so name it
  tensor_parallel_size: 1
  max_model_len: 8192
  max_num_seqs: 32

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
    format: fp8
    status: consider                       # evaluated and reported, not shipped
"""


@click.command(epilog="Example: planner init support-chat")
@click.argument("name", default="starter")
@click.option("--directory", "-d", type=FOLDER, default=Path("specs"), show_default=True, help="Where to write.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@click.option("--stdout", is_flag=True, help="Print it in place of writing a file.")
def init(name: str, directory: Path, force: bool, stdout: bool) -> None:
    """Write a commented starter spec NAME that passes `planner check`."""
    if not NAME.fullmatch(name):
        raise click.UsageError("NAME is lower-case letters, digits, dots and dashes, such as support-chat.")
    text = STARTER.format(name=name, schema="../schema/v1/deployment.schema.json")
    if stdout:
        write(text)
        return
    path = directory / f"{name}.yaml"
    if path.exists() and not force:
        raise click.UsageError(f"{path.as_posix()} exists; use --force to overwrite it.")
    write_whole(path, text)
    click.echo(f"wrote {path.as_posix()}; next: planner check {path.as_posix()}", err=True)
