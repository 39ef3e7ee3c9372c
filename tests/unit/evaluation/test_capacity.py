"""The largest rate that holds: what is below it passes, what is above it does not."""

from __future__ import annotations

from typing import Any

import pytest

from planner.api import check_text
from planner.evaluation.capacity import largest_rate

SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: capacity}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, count: 1}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384}
workload:
  load: {rate: RATE request/s}
  classes:
    - {name: all, prompt_tokens: {p50: 1000, p95: 3000, max: 8000}, output_tokens: {p50: 130, p95: 500, max: 1500}}
objectives: {time_to_first_token: {p95: 600 ms}}
"""


def judged(rate: float) -> Any:
    judgement = check_text(SPEC.replace("RATE", str(rate)))
    assert judgement.result is not None, [item.message for item in judgement.findings]
    return judgement


@pytest.fixture(scope="module")
def holds() -> float:
    found = largest_rate(judged(4).result.detail.plan)
    assert found is not None and found.requests_per_s > 0
    return found.requests_per_s


def test_below_it_the_objective_is_met_above_it_not(holds: float) -> None:
    for rate, kept in ((holds * 0.9, True), (holds * 1.15, False)):
        outcome = judged(round(rate, 4)).result.shipped.objectives[0]
        assert (outcome.estimate is not None and outcome.estimate <= outcome.limit) is kept


def test_it_does_not_depend_on_the_declared_rate(holds: float) -> None:
    assert largest_rate(judged(9).result.detail.plan).requests_per_s == pytest.approx(holds, rel=0.03)  # type: ignore[union-attr]


def test_overload_says_by_how_much_and_what_holds(holds: float) -> None:
    found = next(item for item in judged(200).findings if item.id == "load-exceeds-capacity")
    assert found.values["utilisation"] > 2
    assert found.values["largest_rate_that_holds_per_s"] == pytest.approx(holds, rel=0.05)
    assert "every objective holds" in found.hint
