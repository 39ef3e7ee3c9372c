"""A sweep: every rate with every seed, kept on disk, the same bytes wherever it is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import Result

from planner.cli import sweep as command
from planner.simulate import sweep as made

Planner = Callable[..., Result]
SCHEMA = Path(__file__).parents[3] / "schema" / "v1" / "sweep.schema.json"
# A prompt of 1,000 tokens takes 2 x 7e9 x 1000 / 40e12 = 0.35 s on the ideal engine: 2.9 requests a second at most.
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: swept}
model:
  architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}
  weights: fp16
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload:
  load: {rate: 0.5 request/s}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 20}]
objectives: {time_to_first_token: {p95: 2 s}}
"""
CALL = ("simulate", "specs/swept.yaml", "--rates", "0.5,1,6", "--seeds", "1..2", "--requests", "120")


@pytest.fixture
def swept(project: Path) -> Path:
    (project / "specs" / "swept.yaml").write_text(SPEC, "utf-8")
    return project


def rows_of(found: Result) -> list[dict[str, Any]]:
    body = json.loads(found.stdout)
    jsonschema.validate(body, json.loads(SCHEMA.read_text("utf-8")), jsonschema.Draft202012Validator)
    rows: list[dict[str, Any]] = body["rows"]
    return rows


def test_every_rate_with_every_seed(swept: Path, planner: Planner) -> None:
    found = planner(*CALL, "--format", "json")
    assert (found.exit_code, found.stderr) == (0, "")
    rows = rows_of(found)
    assert [(item["rate_per_s"], item["seed"]) for item in rows] == [(r, s) for r in (0.5, 1.0, 6.0) for s in (1, 2)]
    waits = [item["run"]["latency"]["time_to_first_token_s"]["p95"] for item in rows]
    assert waits[0] != waits[1] and waits[0] < waits[2] and waits[4] is None
    assert [item["run"]["overloaded"] for item in rows] == [False] * 4 + [True] * 2


def test_a_row_is_what_one_run_gives(swept: Path, planner: Planner) -> None:
    one = json.loads(
        planner(
            "simulate", "specs/swept.yaml", "--rate", "1", "--seed", "2", "--requests", "120", "--format", "json"
        ).stdout
    )
    row = next(
        item for item in rows_of(planner(*CALL, "--format", "json")) if item["rate_per_s"] == 1.0 and item["seed"] == 2
    )
    assert {**one["run"], "series": []} == row["run"]
    assert one["objectives"] == row["objectives"]


def test_the_table_has_a_line_a_rate(swept: Path, planner: Planner) -> None:
    lines = planner(*CALL).stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["0.500", "2"], ["1.00", "2"], ["6.00", "2"]]
    assert lines[3].split()[2:] == ["n/a", "n/a", "n/a", "n/a", "n/a", "0.0", "%", "grows"]
    assert lines[4] == "means over the seeds; in brackets the smallest and the largest"
    alone = planner("simulate", "specs/swept.yaml", "--seeds", "3", "--requests", "100").stdout.splitlines()
    assert len(alone) == 2 and alone[1].split()[:2] == ["declared", "1"]


def test_what_is_on_disk_is_not_made_again(swept: Path, planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = planner(*CALL, "--format", "json")
    first = planner(*CALL, "--format", "json", "--results", "runs.json")
    kept = (swept / "runs.json").read_bytes()
    asked: list[Any] = []
    monkeypatch.setattr(command, "row", lambda plan, item: asked.append(item) or made.row(plan, item))
    again = planner(*CALL, "--format", "json", "--results", "runs.json")
    assert whole.stdout == first.stdout == again.stdout and not asked
    # One run is taken out, and made again; the file is the same to the byte.
    runs = json.loads(kept)["runs"]
    lost = sorted(runs)[3]
    del runs[lost]
    (swept / "runs.json").write_text(json.dumps({"schema_version": "1", "runs": runs}))
    assert planner(*CALL, "--format", "json", "--results", "runs.json").stdout == whole.stdout
    assert len(asked) == 1
    assert (swept / "runs.json").read_bytes() == kept


def test_a_sweep_that_stops_keeps_what_it_made(swept: Path, planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def stopping(plan: Any, item: Any) -> Any:
        nonlocal count
        count += 1
        if count > 2:
            raise KeyboardInterrupt
        return made.row(plan, item)

    monkeypatch.setattr(command, "row", stopping)
    assert planner(*CALL, "--results", "runs.json").exit_code == 130
    assert len(json.loads((swept / "runs.json").read_text())["runs"]) == 2


def test_another_spec_or_another_question_is_another_run(swept: Path, planner: Planner) -> None:
    base = ("simulate", "specs/swept.yaml", "--seeds", "1", "--results", "runs.json")
    for more in (
        ("--requests", "50"),
        ("--requests", "60"),
        ("--requests", "50", "--set", "/hardware/derate/compute=0.5"),
    ):
        assert planner(*base, *more).exit_code == 0
    assert len(json.loads((swept / "runs.json").read_text())["runs"]) == 3


def test_a_trace_is_part_of_the_key(swept: Path, planner: Planner) -> None:
    for tokens in (100, 200):
        rows = "".join(f"{index},{tokens},5\n" for index in range(30))
        (swept / "day.csv").write_text("arrival_s,input_tokens,output_tokens\n" + rows)
        call = ("simulate", "specs/swept.yaml", "--trace", "day.csv", "--rates", "1,2", "--results", "runs.json")
        assert planner(*call).exit_code == 0
    assert len(json.loads((swept / "runs.json").read_text())["runs"]) == 4


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema_version": "9", "runs": {}}', '{"schema_version": "1", "runs": {"a": 1}}']
)
def test_another_file_is_not_overwritten(swept: Path, planner: Planner, text: str) -> None:
    (swept / "runs.json").write_text(text)
    found = planner(*CALL, "--results", "runs.json")
    assert (found.exit_code, "is no results file of a sweep" in found.stderr) == (2, True)
    assert (swept / "runs.json").read_text() == text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--rates", "1,fast"), "request/s"),
        (("--rates", "0"), "0"),
        (("--seeds", "9..1"), "upwards"),
        (("--seeds", "a"), "is no seed"),
        (("--seeds", "0..99999999999"), "is no seed"),
        (("--seeds", "0..20000"), "up to 10,000 seeds"),
        (("--rates", "1", "--rate", "2"), "exclude each other"),
        (("--seeds", "1", "--seed", "2"), "exclude each other"),
        (("--results", "runs.json"), "is for a sweep"),
        (("--scheduler", "tcp://127.0.0.1:1"), "is for a sweep"),
        (("--seeds", "1", "--interval", "1 s"), "no time series"),
        (("--rates", ",".join(str(1 + index) for index in range(100)), "--seeds", "0..5000"), "100,000 at most"),
    ],
)
def test_a_wrong_call_is_status_two(swept: Path, planner: Planner, more: tuple[str, ...], says: str) -> None:
    found = planner("simulate", "specs/swept.yaml", *more)
    assert found.exit_code == 2
    assert says in found.stderr


def test_an_invalid_spec_is_its_findings(swept: Path, planner: Planner) -> None:
    (swept / "specs" / "swept.yaml").write_text(SPEC.replace("80 GB", "80 Gb"))
    found = planner(*CALL)
    assert (found.exit_code, "unit-error" in found.stdout) == (1, True)
    assert rows_of(planner(*CALL, "--format", "json")) == []
