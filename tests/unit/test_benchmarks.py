"""The benchmarks run and print their figures; how fast they are is not judged here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_cold_start_prints_the_ratio() -> None:
    assert re.search(
        r"^median +check +[\d.]+ ms, imports +[\d.]+ ms, ratio [\d.]+$", run("cold_start.py", "--runs", "1"), re.M
    )


def test_many_specs_are_varied_and_counted() -> None:
    """Of a hundred, the 50th and the 100th are invalid by construction; some fit and some do not."""
    printed = run("many_specs.py", "--count", "100")
    assert re.match(r"100 specs: .*feasible.*infeasible, 2 invalid\n", printed)
    assert re.search(r"^[\d.]+ s \([\d.]+ s of processor\), [\d.]+ ms a spec, peak \d+ MB$", printed, re.M)


def test_simulation_prints_requests_a_second_and_the_ratio() -> None:
    printed = run("simulation.py", "--runs", "1")
    assert re.match(r"19,366 requests, [\d,]+ iterations in [\d,]+ strides, TTFT p99 [\d.]+ s\n", printed)
    assert re.search(r"^[\d.]+ s, [\d,]+ requests/s, [\d.]+ bare loops, peak \d+ MB$", printed, re.M)
    assert re.search(r"^capacity search: [\d.]+ requests/s hold, \d+ runs, [\d.]+ s$", printed, re.M)
