"""The command line, called in a folder of its own with specs whose verdicts are known by hand.

The textbook's 7B with 8 KV heads: 14 GB of weights, 131,072 bytes of cache a token, 8192 tokens a sequence. Sixteen
sequences need 14 + 17.2 = 31.2 GB and read as much a step, 31.2 ms at 1 TB/s; sixty-four need 82.7 GB of 80.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from planner.cli import cli

SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: NAME}
model:
  architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}
  weights: fp16
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  price: 2 USD/hour
engine: {name: ideal}
workload:
  load: {concurrency: 16}
  classes: [{name: all, context_tokens: 8192}]
objectives: {inter_token_latency: {mean: 40 ms}}
"""
CHANGES: dict[str, tuple[tuple[str, str], ...]] = {
    "feasible": (),
    "too-big": (("concurrency: 16", "concurrency: 64"),),
    "too-slow": (("mean: 40 ms", "mean: 30 ms"),),
    # a real engine's latency is known within a factor of two: the floor of 31.2 ms and what an engine adds lies
    # below 40 ms and its double above
    "at-risk": (("{name: ideal}", '{name: vllm, version: "0.11", max_model_len: 8192}'),),
    "unproven": (("weights: fp16", "weights: int8"),),
    "invalid": (("80 GB", "80 Gb"),),
    "expected": (("concurrency: 16", "concurrency: 64"), ("NAME}", "NAME, expect: infeasible}")),
    "unexpected": (("NAME}", "NAME, expect: infeasible}"),),
}


def spec_text(kind: str, name: str | None = None) -> str:
    text = SPEC
    for old, new in CHANGES[kind]:
        assert old in text
        text = text.replace(old, new)
    return text.replace("NAME", name or kind)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, and the working folder."""
    (tmp_path / "planner.yaml").write_text("apiVersion: planner/v1\nkind: Project\n", "utf-8")
    (tmp_path / "specs").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANNER_TODAY", "2026-06-01")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def write(project: Path) -> Callable[..., str]:
    """write(kind, name=None) -> the path of the spec, as the command line names it."""

    def writer(kind: str, name: str | None = None, text: str | None = None) -> str:
        path = f"specs/{name or kind}.yaml"
        (project / path).write_text(text if text is not None else spec_text(kind, name), "utf-8")
        return path

    return writer


@pytest.fixture
def planner(project: Path) -> Callable[..., Result]:
    """planner("check", path) -> exit_code, stdout, stderr."""

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, prog_name="planner")

    return call
