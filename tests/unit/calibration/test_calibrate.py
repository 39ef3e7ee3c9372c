"""`planner calibrate`, end to end: a plan that differs from the catalogue by known factors is measured, and found."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from planner import calibrating
from planner.calibration import calibrate
from planner.calibration.points import loaded
from planner.calibration.predicting import with_scalars
from planner.cli import cli
from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run
from planner.domain.plan import Plan
from planner.domain.workload import Load
from planner.evaluation import evaluate
from planner.pipeline import judge_file

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: measured}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, replicas: 2}
engine: {name: vllm, version: "0.11", max_model_len: 8192}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
"""
MEASURED = """
apiVersion: planner/v1
kind: Measurement
metadata: {name: by-hand}
date: 2026-10-02
source: vllm bench serve, by hand
subject: {engine: vllm, version: "0.11.2", accelerator: h100-sxm}
runs:
"""
# Logarithms of bandwidth, arithmetic, layer, step, collective: a card that reads 15 % slower, kernels 20 % slower.
TRUTH = (-0.1625, 0.0, 0.1823, 0.0, 0.0)
LOADS = ((1, 500, 200), (4, 4000, 200), (16, 500, 1000), (48, 2000, 400), (96, 500, 200))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "spec.yaml").write_text(SPEC, "utf-8")
    found, findings = calibrating.planned(tmp_path / "spec.yaml", "spec.yaml")
    assert found is not None, findings
    return found


def run_of(plan: Plan, concurrency: int, prompt: int, output: int, wrong: float = 1.0, ttft: bool = False) -> Run:
    """What a machine with the true factors would show, times `wrong`."""
    empty = Run("run", Load("concurrency", concurrency=concurrency), prompt, output, ())
    found = evaluate(with_scalars(loaded(plan, empty, Subject()), TRUTH)).latency
    gap, first = found.inter_token_latency_s.mean, found.time_to_first_token_s.mean
    assert gap is not None and first is not None
    seen: tuple[Observation, ...] = (Observation("inter_token_latency", "mean", gap * wrong),)
    seen += (Observation("time_to_first_token", "mean", first * wrong),) if ttft else ()
    return Run(f"c{concurrency}", empty.load, prompt, output, seen)


def measurement(*runs: Run, subject: Subject | None = None) -> Measurement:
    return Measurement("bench.json", "test", runs, subject or Subject(), date="2026-10-02")


def test_five_points_of_another_machine(plan: Plan) -> None:
    """Every point is within 2 % after, whatever share of it the prior holds back; before, some are off by 10 %."""
    found = calibrate(plan, [measurement(*(run_of(plan, *load) for load in LOADS))])
    assert found.fitted is not None and found.helped
    assert max(abs(r) for r in found.fitted.before) > 0.10
    assert max(abs(r) for r in found.fitted.after) < 0.02
    assert 0.80 < found.multipliers["bandwidth"] < 0.92


@pytest.mark.parametrize("wrong", [1.6, 3.0])
@pytest.mark.parametrize("place", range(5))
def test_one_bad_point_of_five(plan: Plan, place: int, wrong: float) -> None:
    """The other four are nearer than before all the same, and the bad one is named."""
    runs = [run_of(plan, *load, wrong=wrong if index == place else 1.0) for index, load in enumerate(LOADS)]
    found = calibrate(plan, [measurement(*runs)])
    assert found.fitted is not None
    others = [index for index in range(5) if index != place]
    before, after = (
        sorted(abs(values[index]) for index in others) for values in (found.fitted.before, found.fitted.after)
    )
    assert sum(after) < sum(before)
    assert max(after) < max(before) + 0.02
    assert found.fitted.weights[place] < 0.4


def test_a_point_above_the_ceiling_is_the_benchmarks_fault(plan: Plan) -> None:
    """16.06 GB of weights (8.03 billion in 16 bits, less the embedding) over 3.35 TB/s is 4.5 ms; 2 ms cannot be."""
    run = Run("run", Load("concurrency", concurrency=4), 500, 200, (Observation("inter_token_latency", "mean", 2e-3),))
    found = calibrate(plan, [measurement(run)])
    (point,) = found.points
    assert not found.used and "above the physical ceiling" in point.rejected and "4.4" in point.rejected


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (Subject(accelerator="a100-sxm-80"), "accelerator: measured a100-sxm-80, planned h100-sxm"),
        (Subject(engine="sglang"), "engine: measured sglang, planned vllm"),
        (Subject(weights="fp8"), "weights: measured fp8, planned bf16"),
        (Subject(version="0.9.1"), "version: measured 0.9.1, planned 0.11"),
    ],
)
def test_what_was_measured_on_something_else_is_not_used(plan: Plan, subject: Subject, reason: str) -> None:
    found = calibrate(plan, [measurement(run_of(plan, *LOADS[0]), subject=subject)])
    assert not found.used and found.points[0].rejected == reason


def test_longer_requests_than_the_plan_takes(plan: Plan) -> None:
    found = calibrate(plan, [measurement(run_of(plan, 1, 500, 200), run_of(plan, 2, 8000, 400))])
    assert [bool(point.rejected) for point in found.points] == [False, True]
    assert "max_model_len is 8,192" in found.points[1].rejected


def test_another_parallel_size_is_predicted_as_it_ran(plan: Plan) -> None:
    """Two cards where the plan has one: compared with two, and both sizes are of the subject."""
    runs = [run_of(plan, *LOADS[0]), run_of(plan, *LOADS[1])]
    two = measurement(runs[0], subject=Subject(tensor_parallel_size=2))
    found = calibrate(plan, [two, measurement(runs[1])])
    sizes = [point.plan.engine.tensor_parallel_size for point in found.points if point.plan is not None]
    assert sizes == [2, 1]
    assert all(len(point.plan.hardware.cards) == size for point, size in zip(found.points, sizes, strict=True)
               if point.plan is not None)  # fmt: skip


def command(folder: Path, *arguments: str, runs: str = "") -> tuple[int, str, str]:
    (folder / "spec.yaml").write_text(SPEC, "utf-8")
    (folder / "measured.yaml").write_text(MEASURED + (runs or RUNS), "utf-8")
    found = CliRunner().invoke(cli, ["calibrate", str(folder / "spec.yaml"), *arguments], standalone_mode=False)
    return (
        found.exit_code if not isinstance(found.return_value, int) else found.return_value,
        found.stdout,
        found.stderr,
    )


RUNS = """
  - {load: {concurrency: 2}, prompt_tokens: 1000, output_tokens: 200, inter_token_latency: {mean: 9.0 ms, p99: 20 ms}}
  - {load: {concurrency: 16, requests: 160}, prompt_tokens: 900, output_tokens: 99, inter_token_latency: {p50: 12 ms}}
memory: {weights: 14.99 GiB, kv_tokens: 419424}
"""


def test_the_document_is_the_same_each_time_and_a_spec_may_use_it(tmp_path: Path) -> None:
    out = tmp_path / "calibration.yaml"
    status, _, said = command(tmp_path, str(tmp_path / "measured.yaml"), "-o", str(out))
    assert status == 0 and "inter_token_latency.mean" in said
    first = out.read_bytes()
    command(tmp_path, str(tmp_path / "measured.yaml"), "-o", str(out))
    assert out.read_bytes() == first
    text = first.decode()
    assert 'date: "2026-10-02"' in text and 'version: "0.11.2"' in text and "tensor_parallel_size: 1" in text
    assert 'weights: "14.99 GiB"' in text and "a tail: shown, not fitted" in text
    (tmp_path / "spec.yaml").write_text(SPEC + "calibration: ./calibration.yaml\n", "utf-8")
    found = judge_file(tmp_path / "spec.yaml", display="spec.yaml", today="2027-01-01")
    assert found.result is not None, found.findings
    assert found.result.shipped.bands.word == "calibrated"
    assert not {item.id for item in found.findings} & {"calibration-stale"}


def test_a_date_is_needed_and_never_the_clocks(tmp_path: Path) -> None:
    data = Path(__file__).parents[1] / "measurements" / "data" / "sglang-serving-0.5.23.jsonl"
    (tmp_path / "spec.yaml").write_text(SPEC, "utf-8")
    found = CliRunner().invoke(cli, ["calibrate", str(tmp_path / "spec.yaml"), str(data)], standalone_mode=False)
    assert isinstance(found.exception, click.UsageError) and "--date" in str(found.exception)
    status, text, _ = command(tmp_path, str(data), "--date", "2026-11-30")
    assert status == 0 and 'date: "2026-11-30"' in text


@pytest.mark.parametrize(
    ("was", "now"),
    [("concurrency: 2", "concurency: 2"), ("9.0 ms", "9.0"), ("2026-10-02", "2026-13-02"), ("by-hand", "By Hand")],
)
def test_a_wrong_measurement_is_refused_with_its_line(tmp_path: Path, was: str, now: str) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC, "utf-8")
    (tmp_path / "measured.yaml").write_text((MEASURED + RUNS).replace(was, now), "utf-8")
    arguments = ["calibrate", str(tmp_path / "spec.yaml"), str(tmp_path / "measured.yaml")]
    found = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert found.exit_code == 1 and "measured.yaml:" in found.stderr and not found.stdout
