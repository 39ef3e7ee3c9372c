"""Four measured runs of vLLM 0.19 with every request's times: each figure within a quarter of the truth uncalibrated,
and within a twentieth when five scalars are set on the first half of the requests.

casys-kaist/LLMServingSim@5daddb2, bench/examples: about 300 requests of ShareGPT at 10 a second, bfloat16, token budget
2048. Each row's arrival and lengths are the trace; first and last token times are the truth.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from planner import bind, evaluation, source
from planner.api import check_spec
from planner.calibration.fit import fit
from planner.domain.calibration import SCALARS, Calibration, CalibrationBands, Subject
from planner.domain.plan import Plan
from planner.evaluation import latency, simulation
from planner.evaluation.configure import shipped
from planner.output.json import result_of

TRACES = Path(__file__).parents[3] / "shared" / "data" / "traces"
FIGURES = ("TTFT mean", "TTFT p99", "TPOT median", "TPOT p99", "latency mean", "throughput")


@dataclass(frozen=True)
class MeasuredRun:
    """A run: its file, and what its spec declares. model: a name of the catalogue."""

    name: str
    file: str
    model: str
    hardware: Mapping[str, Any]
    engine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return TRACES / f"measured_vllm019_{self.file}.csv.gz"

    def rows(self) -> list[dict[str, float]]:
        text = gzip.decompress(self.path.read_bytes()).decode()
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(io.StringIO(text))]

    def spec(self, folder: Path, **more: Any) -> Path:
        """The spec and its trace, written into `folder`. more: sections added, as `calibration`."""
        rows = self.rows()
        trace = "".join(f"{r['arrival_s']},{int(r['input_tokens'])},{int(r['output_tokens'])}\n" for r in rows)
        (folder / f"{self.name}.csv").write_text("arrival_s,input_tokens,output_tokens\n" + trace)
        longest = max(int(r["input_tokens"] + r["output_tokens"]) for r in rows)
        mean = {key: sum(r[key] for r in rows) / len(rows) for key in ("input_tokens", "output_tokens")}
        document = {
            "apiVersion": "planner/v1",
            "kind": "Deployment",
            "metadata": {"name": self.name},
            "model": {"ref": self.model, "weights": "bf16"},
            "hardware": dict(self.hardware),
            "engine": {
                "name": "vllm",
                "version": "0.19.0",
                "max_num_batched_tokens": 2048,
                "max_model_len": max(longest, 8192),
                **self.engine,
            },
            "workload": {
                "load": {"trace": f"{self.name}.csv"},
                "classes": [
                    {
                        "name": "all",
                        "prompt_tokens": {"mean": round(mean["input_tokens"])},
                        "output_tokens": {"mean": round(mean["output_tokens"])},
                    }
                ],
            },
            **more,
        }
        path = folder / f"{self.name}.yaml"
        path.write_text(json.dumps(document, indent=1))
        return path


RUNS = (
    MeasuredRun(
        "rtx-4090-llama-8b", "RTX4090_Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct",
        {"accelerator": "rtx-4090", "count": 1},
        {"max_num_seqs": 256, "num_gpu_blocks_override": 2588},
    ),
    MeasuredRun(
        "rtx-pro-6000-llama-8b", "RTXPRO6000_Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct",
        {"accelerator": "rtx-pro-6000-server", "count": 1}, {"max_num_seqs": 128},
    ),
    MeasuredRun(
        "rtx-pro-6000-qwen3-32b", "RTXPRO6000_Qwen3-32B", "Qwen/Qwen3-32B",
        {"accelerator": "rtx-pro-6000-server", "count": 2}, {"max_num_seqs": 128, "tensor_parallel_size": 2},
    ),
    MeasuredRun(
        "rtx-pro-6000-qwen3-30b-a3b", "RTXPRO6000_Qwen3-30B-A3B-Instruct-2507", "Qwen/Qwen3-30B-A3B",
        {"accelerator": "rtx-pro-6000-server", "count": 2},
        {"max_num_seqs": 128, "data_parallel_size": 2, "expert_parallel_size": 2},
    ),
)  # fmt: skip


def quantile(values: Sequence[float], share: float) -> float:
    """By linear interpolation between the ordered values, as numpy's default."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def measured(run: MeasuredRun) -> dict[str, float]:
    """{figure: seconds, or output tokens a second} of the run itself."""
    rows = run.rows()
    first = [r["first_token_s"] - r["arrival_s"] for r in rows]
    gaps = [(r["last_token_s"] - r["first_token_s"]) / (r["output_tokens"] - 1) for r in rows if r["output_tokens"] > 1]
    whole = [r["last_token_s"] - r["arrival_s"] for r in rows]
    lasted = max(r["last_token_s"] for r in rows) - min(r["arrival_s"] for r in rows)
    tokens = sum(r["output_tokens"] for r in rows)
    values = (
        sum(first) / len(first), quantile(first, 0.99), quantile(gaps, 0.5), quantile(gaps, 0.99),
        sum(whole) / len(whole), tokens / lasted,
    )  # fmt: skip
    return dict(zip(FIGURES, values, strict=True))


def predicted(result: Mapping[str, Any]) -> dict[str, float]:
    """The same of one result of `planner check --format json`."""
    latency, rate = result["shipped"]["latency"], result["shipped"]["throughput"]
    first, gap = latency["time_to_first_token_s"], latency["time_per_output_token_s"]
    values = (
        first["mean"], first["p99"], gap["p50"], gap["p99"], latency["request_latency_s"]["mean"],
        rate["output_tokens_per_s"],
    )  # fmt: skip
    return dict(zip(FIGURES, values, strict=True))


@pytest.mark.skipif(not TRACES.is_dir(), reason="the measured traces are not here")
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_within_a_quarter(run: MeasuredRun, tmp_path: Path) -> None:
    found, truth = predicted(result_of(check_spec(run.spec(tmp_path)))), measured(run)
    wrong = {name: found[name] / truth[name] - 1.0 for name in FIGURES}
    assert all(abs(error) <= 0.25 for error in wrong.values()), wrong


# ------------------------------------------------------------------ calibrated

WIDE = CalibrationBands((0.9, 1.1), (0.9, 1.1))
PRIORS = {"bandwidth": 0.1, "arithmetic": 0.15, "layer": 0.2, "step": 0.3, "collective": 0.4}
USUAL = (0.02, 0.02, 0.02, 0.06, 0.03)
Timed = tuple[float, float, float, float]
"""Of a request: arrival, first token, last token, tokens answered."""


def first_half(requests: Iterable[Timed]) -> list[float]:
    """Logarithms of what is told of the first half of the requests: mean TPOT of each third, TTFT, latency."""
    half = sorted(requests)
    half = half[: len(half) // 2]
    size = len(half) // 3
    parts = [half[index * size : (index + 1) * size] for index in range(3)]
    gaps = [[(last - first) / (tokens - 1) for _, first, last, tokens in part if tokens > 1] for part in parts]
    means = [sum(values) / len(values) for values in gaps]
    waits = [first - arrival for arrival, first, _, _ in half]
    whole = [last - arrival for arrival, _, last, _ in half]
    return [math.log(value) for value in (*means, sum(waits) / len(waits), sum(whole) / len(whole))]


def calibrated(plan: Plan, scalars: Mapping[str, float]) -> Plan:
    return replace(plan, calibration=Calibration("here", "2026-01-01", Subject(), scalars, WIDE, WIDE))


def simulated(plan: Plan) -> Callable[[Sequence[float]], list[float]]:
    """Logarithms of scalars -> what the simulation tells of the first half."""

    def predict(logarithms: Sequence[float]) -> list[float]:
        scalars = {name: math.exp(value) for name, value in zip(PRIORS, logarithms, strict=True)}
        moved = shipped(calibrated(plan, scalars))
        ledger = evaluation.ledger_of(moved)
        served = latency.evaluate(moved, evaluation.sequences_that_fit(moved, ledger))
        run = simulation.simulate(moved, ledger, served)
        assert run is not None
        done = [item for engine in run.engines for item in engine.done]
        return first_half((item.arrival_s, item.first_token_s, item.finished_s, item.output) for item in done)

    return predict


@pytest.mark.skipif(not TRACES.is_dir(), reason="the measured traces are not here")
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_within_a_twentieth_when_calibrated(run: MeasuredRun, tmp_path: Path) -> None:
    assert set(PRIORS) == set(SCALARS)
    spec = run.spec(tmp_path)
    document, _ = source.load(spec, display=spec.name)
    assert document is not None
    plan, findings = bind.plan(document)
    assert plan is not None, findings
    rows = run.rows()
    measured_half = first_half(
        (row["arrival_s"], row["first_token_s"], row["last_token_s"], row["output_tokens"]) for row in rows
    )
    found = fit(simulated(plan), measured_half, USUAL, list(PRIORS.values()))
    scalars = {name: round(math.exp(value), 4) for name, value in zip(PRIORS, found.logarithms, strict=True)}
    write_calibration(tmp_path, run, scalars)
    judged = check_spec(run.spec(tmp_path, calibration="./calibration.yaml"))
    assert not [item.id for item in judged.findings if item.id == "calibration-stale"]
    values, truth = predicted(result_of(judged)), measured(run)
    wrong = {name: values[name] / truth[name] - 1.0 for name in FIGURES}
    assert all(abs(error) <= 0.05 for error in wrong.values()), (scalars, wrong)


def write_calibration(folder: Path, run: MeasuredRun, scalars: Mapping[str, float]) -> None:
    bands = {"latency": [0.95, 1.05], "throughput": [0.95, 1.05]}
    document = {
        "apiVersion": "planner/v1",
        "kind": "Calibration",
        "metadata": {"name": run.name},
        "date": "2026-01-01",
        "subject": {"model": run.model, "engine": "vllm", "accelerator": run.hardware["accelerator"]},
        "scalars": {name: {"value": value, "low": 0.9 * value, "high": 1.1 * value} for name, value in scalars.items()},
        "bands": {"calibrated": bands, "family": bands},
    }
    (folder / "calibration.yaml").write_text(json.dumps(document, indent=1))
