"""A queue that grows all along a run has no percentiles; one that does not, has."""

from __future__ import annotations

from typing import Any

import pytest

from planner.api import check_text
from planner.evaluation import simulation

# One sequence at a time: 1,000 prompt tokens of 2 x 7e9 FLOP at 40 TFLOP/s take 0.35 s, an answer of one token no more.
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: steady}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal, max_num_seqs: 1}
workload: {load: {LOAD}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 1}]}
"""


def run_at(load: str, seed: int = 1) -> tuple[Any, Any]:
    """(the plan, a run of it) whatever closed forms say of the load."""
    judgement = check_text(SPEC.replace("LOAD", load))
    assert judgement.result is not None, [item.message for item in judgement.findings]
    detail = judgement.result.detail
    return detail.running, simulation.simulate(detail.running, detail.ledger, detail.served, seed=seed)


@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize("process", ["process: poisson", "process: gamma, cv: 3", "process: constant"])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_below_capacity_a_queue_does_not_grow(process: str, share: float, seed: int) -> None:
    plan, run = run_at(f"rate: {share / 0.35:.4f} request/s, {process}", seed)
    assert simulation.served_at_most(plan, run) is None


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("process", ["process: poisson", "process: constant"])
def test_above_it_what_is_served_is_the_capacity(process: str, seed: int) -> None:
    plan, run = run_at(f"rate: {1.15 / 0.35:.4f} request/s, {process}", seed)
    # 1 / 0.35 s = 2.86 requests a second
    assert simulation.served_at_most(plan, run) == pytest.approx(1.0 / 0.35, rel=0.01)


def test_a_finite_run_and_a_limited_queue_are_taken_as_they_are() -> None:
    for load, more in (("rate: 6 request/s, requests: 400", ""), ("rate: 6 request/s", "queue: {requests: 10}, ")):
        text = SPEC.replace("LOAD", load).replace("classes:", f"{more}classes:")
        judgement = check_text(text)
        assert judgement.result is not None
        detail = judgement.result.detail
        run = simulation.simulate(detail.running, detail.ledger, detail.served)
        assert run is not None and simulation.served_at_most(detail.running, run) is None
