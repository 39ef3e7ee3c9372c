"""What decides, what flips, where it turns and where assumptions come from: complete, and in the objectives' terms."""

from __future__ import annotations

import pytest

from planner import source
from planner.analysis import analyse
from planner.pipeline import Judgement, judge_document
from planner.report.analysis_types import Analysis

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: decision}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 2 TB/s, compute: {fp16: 300 TFLOP/s}}
  price: 2 USD/hour
engine: {name: vllm, version: "0.11", max_model_len: 4096, max_num_seqs: 32}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
objectives: OBJECTIVES
"""


def judged(objectives: str) -> tuple[Judgement, Analysis]:
    document, findings = source.parse(SPEC.replace("OBJECTIVES", objectives))
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None
    assert judgement.result is not None
    return judgement, analyse(judgement.plan, judgement.result)


def at(statistic: str) -> float:
    """The gap of this spec at `statistic`, so that an objective can be put inside its band of a factor of two."""
    result = judged("{rejected_requests: {max: 1 %}}")[0].result
    assert result is not None
    value = result.shipped.latency.inter_token_latency_s.at(statistic)
    assert value is not None
    return value


@pytest.mark.parametrize("statistic", ["mean", "p95", "max"])
def test_the_deciding_measurement_is_at_the_statistic_that_the_objective_binds(statistic: str) -> None:
    judgement, found = judged(f"{{inter_token_latency: {{{statistic}: {at(statistic) * 1000:.6f} ms}}}}")
    assert judgement.result is not None
    (objective,) = judgement.result.shipped.objectives
    assert objective.outcome == "at-risk"
    assert found.deciding is not None
    assert found.deciding.figure == f"{statistic} inter-token latency"
    assert found.deciding.figure in found.deciding.measure
    known = (found.deciding.estimate.value, found.deciding.low, found.deciding.high)
    assert known == (objective.estimate, objective.low, objective.high)


def test_an_open_request_latency_is_itself_what_to_measure() -> None:
    result = judged("{rejected_requests: {max: 1 %}}")[0].result
    assert result is not None
    whole = result.shipped.latency.request_latency_s.p95
    assert whole is not None
    _, found = judged(f"{{request_latency: {{p95: {whole:.6f} s}}}}")
    assert found.deciding is not None
    assert found.deciding.figure == "p95 request latency"


def test_every_objective_has_its_row_of_what_flips_it() -> None:
    objectives = (
        "{time_to_first_token: {p95: 900 ms, mean: 2 s}, inter_token_latency: {p95: 60 ms}, "
        "output_tokens_per_second: {min: 10 token/s}, cost: {max: 5 USD/hour}, "
        "rejected_requests: {max: 1 %}, memory_headroom: {min: 10 %}}"
    )
    judgement, found = judged(objectives)
    assert judgement.result is not None
    named = [item.objective for item in judgement.result.shipped.objectives]
    assert [flip.name for flip in found.flips] == ["memory", *named]
    # One accelerator at 2 USD an hour of 5 allowed: the price flips it just above 2.5 times, and nothing else can.
    cost = next(flip.nearest for flip in found.flips if flip.name == "cost")
    assert cost is not None
    assert cost.input == "price of an accelerator"
    assert cost.change == pytest.approx(1.5, rel=0.01)
    # A closed loop refuses nothing whatever is scaled: the row stays, without a flip.
    assert next(flip.nearest for flip in found.flips if flip.name == "rejected_requests") is None


def test_a_turning_point_knows_what_the_engine_admits() -> None:
    _, found = judged("{rejected_requests: {max: 1 %}}")
    limits = {point.at.dimension: (point.limit, point.limit_key) for point in found.turning_points}
    assert limits == {"tokens": (4096.0, "max_model_len"), "sequences": (32.0, "max_num_seqs")}


def test_every_assumption_and_figure_names_its_source_and_every_band_its_word() -> None:
    judgement, found = judged("{rejected_requests: {max: 1 %}}")
    assert judgement.result is not None
    assert all(entry.source for entry in found.assumptions)
    assert all(row.source for row in found.provenance)
    word = judgement.result.shipped.bands.word
    bands = [entry for entry in found.assumptions if entry.text.startswith("Band of")]
    assert bands
    assert all(entry.source.startswith(word) for entry in bands)
