"""`planner simulate`: one run, its figures, its exit status.

The ideal engine with 40 TFLOP/s and a model of 7e9 parameters takes 2 x 7e9 x 1000 / 40e12 = 0.35 s for a prompt of
1,000 tokens, and reads 14 GB at 1 TB/s, 14 ms, for a token of one sequence alone.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import Result

from planner.cli import progress

Planner = Callable[..., Result]
SCHEMA = Path(__file__).parents[3] / "schema" / "v1" / "simulation.schema.json"
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
  load: {rate: 0.2 request/s, process: constant}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 101}]
objectives: {time_to_first_token: {p95: 400 ms}}
"""


def closed(node: Any) -> Any:
    """The schema with every described object closed: a key that it does not describe fails."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {key: closed(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict):
        found.setdefault("additionalProperties", False)
    return found


@pytest.fixture
def spec(project: Path) -> Callable[..., str]:
    """spec(("old", "new"), ...) -> the path of the spec, changed."""

    def write(*changes: tuple[str, str], name: str = "spec") -> str:
        text = SPEC.replace("NAME", name)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (project / "specs" / f"{name}.yaml").write_text(text, "utf-8")
        return f"specs/{name}.yaml"

    return write


@pytest.fixture
def run_of(planner: Planner) -> Callable[..., dict[str, Any]]:
    """run_of(arguments) -> the whole JSON, valid by its schema."""

    def call(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(planner("simulate", "--format", "json", *arguments).stdout)
        jsonschema.validate(found, closed(json.loads(SCHEMA.read_text("utf-8"))), jsonschema.Draft202012Validator)
        return found

    return call


def test_requests_that_never_meet_take_what_one_takes_alone(spec: Any, run_of: Any, planner: Planner) -> None:
    """Every 5 s one of 0.35 s + 100 steps of 14 ms and the cache that they read: 131,072 bytes a token at 1 TB/s."""
    found = run_of(spec(), "--requests", "50")
    run = found["run"]
    latency = run["latency"]
    assert latency["time_to_first_token_s"]["p50"] == pytest.approx(0.35, rel=0.02)
    # contexts of 1,000 to 1,100 tokens: 0.131 to 0.144 ms
    assert latency["inter_token_latency_s"]["mean"] == pytest.approx(14.0e-3 + 0.138e-3, rel=0.005)
    assert latency["request_latency_s"]["max"] == pytest.approx(0.35 + 100 * 14.138e-3, rel=0.01)
    assert latency["queue_wait_s"]["max"] == 0.0
    assert latency["session_latency_s"]["mean"] is None
    assert run["throughput"]["goodput_fraction"] == 1.0
    assert (run["requests"], run["seed"], run["overloaded"], found["verdict"]) == (45, 1, False, "feasible")
    assert sum(item["arrived"] for item in run["series"]) == 50
    assert planner("simulate", spec(), "--requests", "50").exit_code == 0


def test_text_says_the_same(spec: Any, planner: Planner) -> None:
    printed = planner("simulate", spec(), "--requests", "50").stdout
    assert "load        0.200 requests/s, constant arrivals\n" in printed
    assert "\nTTFT            350 ms    350 ms" in printed
    assert "keep every latency limit, 100.0 % of those that came\n" in printed
    assert printed.endswith("    objective   time_to_first_token.p95: met\n")


def test_the_same_call_gives_the_same_bytes_and_another_seed_others(spec: Any, planner: Planner) -> None:
    path = spec(("constant", "poisson"))
    first, second = (planner("simulate", path, "--rate", "0.3", "--requests", "200").stdout for _ in range(2))
    assert first == second
    other = planner("simulate", path, "--rate", "0.3", "--requests", "200", "--seed", "2").stdout
    assert other != first and other.splitlines()[0] == first.splitlines()[0]


def test_a_missed_objective_is_status_one(spec: Any, planner: Planner) -> None:
    found = planner("simulate", spec(("400 ms", "300 ms")), "--requests", "50")
    assert found.exit_code == 1
    assert "objective-missed error: time_to_first_token.p95 is missed" in found.stdout


def test_an_expected_verdict_is_status_zero(spec: Any, planner: Planner) -> None:
    path = spec(("400 ms", "300 ms"), ("spec}", "spec, expect: infeasible}"))
    assert planner("simulate", path, "--requests", "50").exit_code == 0


def test_overload_has_no_latency_and_says_by_how_much(spec: Any, run_of: Any, planner: Planner) -> None:
    """A prompt takes 0.35 s, so that three a second cannot be served, whatever the batch."""
    found = run_of(spec(), "--rate", "6", "--requests", "400")
    run = found["run"]
    assert run["overloaded"] is True
    assert all(value is None for latency in run["latency"].values() for value in latency.values())
    assert [item["outcome"] for item in found["objectives"]] == ["missed"]
    assert "load-exceeds-capacity" in {item["id"] for item in found["findings"]}
    growing = [item["queue"] + item["running"] for item in run["series"] if item["arrived"] > 0]
    assert growing == sorted(growing) and growing[-1] > 100
    printed = planner("simulate", spec(), "--rate", "6", "--requests", "400")
    assert printed.exit_code == 1
    assert "no latency is given: the queue grows without bound\n" in printed.stdout and "TTFT  " not in printed.stdout


def test_an_invalid_spec_is_its_findings(spec: Any, run_of: Any, planner: Planner) -> None:
    path = spec(("80 GB", "80 Gb"))
    assert run_of(path)["run"] is None
    found = planner("simulate", path)
    assert (found.exit_code, "unit-error" in found.stdout) == (1, True)


def test_what_does_not_fit_is_not_run(spec: Any, run_of: Any, planner: Planner) -> None:
    found = run_of(spec(("7e9", "70e9")))
    assert (found["run"], found["verdict"]) == (None, "infeasible")
    assert planner("simulate", spec(("7e9", "70e9"))).exit_code == 1


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (("prompt_tokens: 1000, output_tokens: 101", "context_tokens: 1000"), (), "declares no prompt_tokens"),
        (("0.2 request/s", "0.3 request/s"), ("--duration", "1 ms", "--seed", "3"), "no request arrives"),
        (("0.2 request/s", "0.3 request/s"), ("--interval", "1 ms"), "10,000 at most"),
    ],
)
def test_what_cannot_be_run_is_status_two(spec: Any, planner: Planner, change: tuple[str, str],
                                          arguments: tuple[str, ...], says: str) -> None:  # fmt: skip
    changed = spec(change, ("process: constant", "process: poisson"))
    found = planner("simulate", changed, *arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert says in found.stderr


@pytest.mark.parametrize(
    "arguments",
    [("--rate", "0"), ("--rate", "-1"), ("--rate", "fast"), ("--rate", "4 GB"), ("--requests", "0"),
     ("--duration", "60"), ("--interval", "no"), ("--seed", "-1"), ("--trace", "")],
)  # fmt: skip
def test_a_wrong_call_is_status_two(spec: Any, planner: Planner, arguments: tuple[str, ...]) -> None:
    assert planner("simulate", spec(), *arguments).exit_code == 2


def test_a_missing_spec_is_status_two(planner: Planner, project: Path) -> None:
    assert planner("simulate", "specs/no-such.yaml").exit_code == 2
    assert planner("simulate", "specs").exit_code == 2


@pytest.mark.parametrize("more", [(), ("--seeds", "1")])
def test_only_a_deployment_is_simulated(planner: Planner, project: Path, more: tuple[str, ...]) -> None:
    (project / "specs" / "base.yaml").write_text("apiVersion: planner/v1\nkind: Base\n", "utf-8")
    found = planner("simulate", "specs/base.yaml", *more)
    assert (found.exit_code, "is no Deployment" in found.stderr) == (2, True)


def test_a_closed_loop_over_replicas_is_served_by_all(spec: Any, run_of: Any) -> None:
    """Eight over two replicas: four each all the time, and twice what one replica serves of four."""
    loop = ("rate: 0.2 request/s, process: constant", "concurrency: 4")
    one = run_of(spec(loop, name="one"), "--requests", "200")["run"]
    two = run_of(spec((loop[0], "concurrency: 8"), ("compute: 1.0}", "compute: 1.0}\n  replicas: 2"), name="two"),
                 "--requests", "400")["run"]  # fmt: skip
    assert two["throughput"]["requests_per_s"] == pytest.approx(2.0 * one["throughput"]["requests_per_s"], rel=0.05)
    assert two["engine"]["running"] + two["engine"]["waiting"] == pytest.approx(4.0, rel=0.05)


def test_a_rate_with_a_unit_and_for_a_time(spec: Any, run_of: Any) -> None:
    """Twelve a minute for ten minutes, constant: 120 arrivals, of which a tenth is warm-up."""
    run = run_of(spec(), "--rate", "12 request/minute", "--duration", "10 minute", "--interval", "5 minute")["run"]
    assert run["load"]["rate_per_s"] == pytest.approx(0.2)
    assert run["requests"] == 108
    assert [item["arrived"] for item in run["series"]] == [60, 60, 0][: len(run["series"])]


def test_a_closed_loop_is_run_too(spec: Any, run_of: Any) -> None:
    run = run_of(spec(("rate: 0.2 request/s, process: constant", "concurrency: 4")), "--requests", "100")["run"]
    assert run["load"]["kind"] == "concurrency"
    assert run["engine"]["running"] + run["engine"]["waiting"] == pytest.approx(4.0, rel=0.05)


def test_a_recorded_trace_takes_the_place_of_load_and_lengths(spec: Any, run_of: Any, project: Path) -> None:
    rows = "".join(f"{index * 2.0},{500 + index % 3},{20 + index % 5}\n" for index in range(40))
    (project / "traces").mkdir()
    (project / "traces" / "day.csv").write_text("arrival_s,input_tokens,output_tokens\n" + rows, "utf-8")
    for reference in ("traces/day.csv", str(project / "traces" / "day.csv")):
        run = run_of(spec(), "--trace", reference)["run"]
        assert (run["load"]["kind"], run["load"]["trace"], run["requests"]) == ("trace", "../traces/day.csv", 40)
        # half of the 0.35 s of a prompt twice as long
        assert run["latency"]["time_to_first_token_s"]["p50"] == pytest.approx(0.175, rel=0.05)
    denser = run_of(spec(), "--trace", "traces/day.csv", "--rate", "1")["run"]
    assert denser["load"]["scale"] == pytest.approx(2.0)
    cut = run_of(spec(), "--trace", "traces/day.csv", "--requests", "10")["run"]
    assert cut["requests"] == 10


def test_a_trace_stays_in_the_project(spec: Any, planner: Planner, project: Path) -> None:
    outside = project.parent / "outside.csv"
    outside.write_text("arrival_s,input_tokens,output_tokens\n0,1,1\n", "utf-8")
    found = planner("simulate", spec(), "--trace", str(outside))
    assert found.exit_code == 1
    assert "--trace:1:1: reference-outside-project error" in found.stdout
    (project / "bad.csv").write_text("a,b\n1,2\n", "utf-8")
    found = planner("simulate", spec(), "--trace", "bad.csv")
    assert (found.exit_code, "trace-not-read" in found.stdout) == (1, True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_shown_on_a_terminal_and_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    for stream, later, shown in ((Terminal(), 3.0, True), (Terminal(), 1.9, False), (io.StringIO(), 9.0, False)):
        monkeypatch.setattr(sys, "stderr", stream)
        clock[0] = 0.0
        with progress.Progress("requests") as bar:
            bar(256, 1000)
            clock[0] = later
            bar(512, 1000)
        written = stream.getvalue()
        assert ("[###############---------------]  51 %  512 of 1,000 requests" in written) is shown
        assert written.endswith("\r") is shown
    assert progress.bar(2048, 0, "requests") == "2,048 requests"


def test_nothing_but_the_figures_is_printed_in_a_pipe(spec: Any, planner: Planner) -> None:
    assert planner("simulate", spec(), "--requests", "300").stderr == ""
