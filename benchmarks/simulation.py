"""An hour of real traffic through the event simulation, and a search for the largest rate that holds.

The hour is like the conversation trace that Azure published in 2023 (19,366 requests): arrivals at random within its
five-minute counts, lengths by its quantiles. Where the trace itself lies in a folder, `--trace` reads it.

The bare loop pushes two events a request on a heap and takes them off again, in order: the least that any event
simulation does, so that the ratio says what the model of the engine costs, whatever the machine.

Goals on one core: the hour under 0.8 s and 150 MB, a search of a dozen runs under 10 s.

    python benchmarks/simulation.py [--runs 5] [--trace FILE] [--profile FILE]
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from bisect import bisect_right
from collections.abc import Callable
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from planner.api import check_text
from planner.bind.trace_file import read_trace
from planner.domain.trace import Trace
from planner.evaluation import capacity, simulation
from planner.traffic.engine import EngineSimulation
from planner.traffic.fleet import Fleet
from planner.traffic.outcome import Outcome, outcome
from planner.traffic.population import recorded

SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: hour}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, count: 1}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384}
workload:
  load: {rate: 5.53 request/s}
  classes:
    - {name: all, prompt_tokens: {p50: 1020, p90: 2734, max: 14050}, output_tokens: {p50: 129, p90: 424, max: 1000}}
objectives: {time_to_first_token: {p95: 500 ms}, time_per_output_token: {p95: 40 ms}}
"""
# Requests in each five minutes, and quantiles of lengths, of AzureLLMInferenceTrace_conv.csv.
# Source: Azure/AzurePublicDataset, CC-BY 4.0 (Splitwise, ISCA 2024).
COUNTS = (1445, 1422, 1557, 1561, 1884, 2239, 2229, 1839, 1701, 1424, 1297, 768)
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0)
INPUTS = (2, 29, 181, 207, 387, 403, 703, 1020, 1071, 1130, 1315, 1877, 2735, 4083, 4098, 4142, 6212, 14050)
OUTPUTS = (7, 16, 41, 54, 77, 91, 103, 129, 177, 384, 400, 411, 424, 451, 540, 601, 954, 1000)
WINDOW_S = 300.0
DURATION_S = 3501.7


def hour() -> Trace:
    """The same every time."""
    source = random.Random(1)
    arrivals = sorted(
        source.uniform(index * WINDOW_S, min((index + 1) * WINDOW_S, DURATION_S))
        for index, count in enumerate(COUNTS)
        for _ in range(count)
    )
    inputs, outputs = ([length(source.random(), table) for _ in arrivals] for table in (INPUTS, OUTPUTS))
    return Trace(arrivals, inputs, outputs, source="generated")


def length(level: float, table: tuple[int, ...]) -> int:
    index = min(bisect_right(LEVELS, level), len(LEVELS) - 1)
    share = (level - LEVELS[index - 1]) / (LEVELS[index] - LEVELS[index - 1])
    return round(table[index - 1] + share * (table[index] - table[index - 1]))


def served(detail: Any, trace: Trace) -> tuple[EngineSimulation, Outcome]:
    """The whole trace on one engine, and its percentiles. Nothing is remembered from an earlier run."""
    limits = simulation.limits_of(detail.plan, detail.ledger, detail.served.service)
    engine = EngineSimulation(simulation.clock_of(detail.served.service, limits), limits)
    Fleet([engine]).run(recorded(trace))
    return engine, outcome([engine])


def bare(trace: Trace) -> float:
    """Two events a request, in order."""
    heap: list[tuple[float, int]] = []
    total = 0.0
    for index, at in enumerate(trace.arrival_s):
        heappush(heap, (at, index))
        heappush(heap, (at + 1.0, index))
    while heap:
        at, index = heappop(heap)
        total += at
    return total


def fastest(work: Callable[[], object], runs: int) -> float:
    """Processor seconds of the fastest of several runs."""
    best = float("inf")
    for _ in range(runs):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def peak_bytes() -> int:
    """Peak resident memory of this process so far (Linux counts it in KiB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def search(detail: Any) -> tuple[float, float]:
    """(largest rate that holds, processor seconds)."""
    begin = time.process_time()
    found = capacity.largest_rate(detail.plan)
    return (found.requests_per_s if found else 0.0), time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description="an hour of traffic through the event simulation")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--trace", type=Path, help="a recorded trace in place of the generated hour")
    parser.add_argument("--profile", type=Path, help="write cProfile's statistics of one run to this file")
    given = parser.parse_args()
    trace, _ = read_trace(given.trace, name=str(given.trace)) if given.trace else (hour(), ())
    judgement = check_text(SPEC)
    if trace is None or judgement.result is None:
        raise SystemExit("nothing to run")
    detail = judgement.result.detail
    if given.profile:
        import cProfile

        cProfile.runctx("served(detail, trace)", globals(), {"detail": detail, "trace": trace}, str(given.profile))
        return
    requests = len(trace.arrival_s)
    engine, found = served(detail, trace)
    took, loop = fastest(lambda: served(detail, trace), given.runs), fastest(lambda: bare(trace), given.runs)
    print(
        f"{requests:,} requests, {engine.iterations:,} iterations in {engine.strides:,} strides, "
        f"TTFT p99 {found.first_token['p99']:.3f} s"
    )
    rates = f"{requests / took:,.0f} requests/s, {took / loop:.1f} bare loops"
    print(f"{took:.3f} s, {rates}, peak {peak_bytes() / 1e6:.0f} MB")
    rate, seconds = search(detail)
    print(f"capacity search: {rate:.2f} requests/s hold, {capacity.ROUNDS} runs, {seconds:.2f} s")


if __name__ == "__main__":
    main()
