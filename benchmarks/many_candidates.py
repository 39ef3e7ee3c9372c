"""Seconds for 100,000 candidates at once: numpy arrays through the formulas of the mixed step and the closed loop.

    python benchmarks/many_candidates.py [CANDIDATES]

The step's coefficients of `specs/prod.yaml` and of a mixture of experts are varied (bandwidth, arithmetic, prompt,
answer, concurrency, seats), and the same numbers are asked for one by one, for the ratio. Needs numpy.
"""

from __future__ import annotations

import sys
import time
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from planner import bind, source
from planner.evaluation.configure import shipped
from planner.evaluation.measured_step import engine_of
from planner.evaluation.step_cost import step_cost_of
from planner.physics.serving import Requests, closed_loop
from planner.physics.step import StepCost

SINGLY = 2_000


def cost_of(spec: str) -> tuple[StepCost, Any]:
    document, findings = source.load(Path(spec), display=spec)
    assert document is not None, findings
    plan, problems = bind.plan(document)
    assert plan is not None, problems
    return step_cost_of(shipped(plan)), engine_of(shipped(plan), 128.0)


def scaled(value: Any, reads: Any, arithmetic: Any) -> Any:
    """The coefficients with every read and every product so many times as long."""
    if isinstance(value, tuple):
        return tuple(scaled(item, reads, arithmetic) for item in value)
    if not is_dataclass(value):
        return value
    changed = {}
    for field in fields(value):
        held = getattr(value, field.name)
        if field.name.endswith("read_s"):
            changed[field.name] = held * reads
        elif field.name.endswith("arithmetic_s"):
            changed[field.name] = held * arithmetic
        elif field.name in ("experts", "attention"):
            changed[field.name] = scaled(held, reads, arithmetic)
    return replace(value, **changed)  # type: ignore[type-var]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    random = np.random.default_rng(1)
    reads, arithmetic = random.uniform(0.3, 3.0, count), random.uniform(0.3, 3.0, count)
    prompt, output = random.integers(64, 8192, count).astype(float), random.integers(2, 2048, count).astype(float)
    concurrency, seats = random.integers(1, 512, count).astype(float), random.integers(8, 256, count).astype(float)
    for spec in ("specs/prod.yaml", "specs/mixtral-8x7b.yaml"):
        cost, engine = cost_of(spec)
        begun = time.perf_counter()
        found = closed_loop(
            scaled(cost, reads, arithmetic), Requests(prompt, 0.0, output), replace(engine, seats=seats), concurrency
        )
        together = time.perf_counter() - begun
        begun = time.perf_counter()
        for i in range(SINGLY):
            one = closed_loop(
                scaled(cost, float(reads[i]), float(arithmetic[i])),
                Requests(float(prompt[i]), 0.0, float(output[i])),
                replace(engine, seats=float(seats[i])),
                float(concurrency[i]),
            )
            assert abs(one.gap_s / found.gap_s[i] - 1.0) < 1e-9
        singly = (time.perf_counter() - begun) / SINGLY * count
        ratio = singly / together
        print(f"{spec}: {count:,} candidates in {together:.2f} s; one by one {singly:.1f} s, {ratio:.0f} times")


if __name__ == "__main__":
    main()
