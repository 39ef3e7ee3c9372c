"""Ways out of objectives on cost, energy and power: each is tried, and holds by the estimate."""

import pytest

from planner import source
from planner.domain.evaluation import ObjectiveOutcome
from planner.findings import Finding
from planner.pipeline import Judgement, judge_document

# Each replica serves 1 / 0.86945 s = 1.1502 requests/s (tests/unit/evaluation/test_cost.py); 4 serve 4.6006.
SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: ways}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}, power: 400 W}
  derate: {bandwidth: 1.0, compute: 1.0}
  price: PRICE
  replicas: REPLICAS
  power: {LIMIThost: 100 W, pue: 1.25}
engine: {name: ideal, max_num_seqs: 16}
workload:
  load: {rate: RATE request/s}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 501}]
objectives: {OBJECTIVE}
"""


DEFAULTS = {"PRICE": "2 USD/hour", "REPLICAS": "4", "LIMIT": "", "RATE": "1"}


def judge(objective: str, **changes: str) -> Judgement:
    values = {**changes, **DEFAULTS, **changes, "OBJECTIVE": objective}
    text = SPEC
    for name, value in values.items():
        text = text.replace(name, value)
    document, findings = source.parse(text)
    assert document is not None, findings
    return judge_document(document, today="2026-01-01")


def missed(objective: str) -> Finding:
    return next(item for item in judge(objective).findings if item.id in ("objective-missed", "objective-at-risk"))


def outcome(objective: str, **changes: str) -> ObjectiveOutcome:
    result = judge(objective, **changes).result
    assert result is not None
    return result.shipped.objectives[0]


# 8 USD an hour / (501 x 3600 / 1e6) = 4.4356 USD a million output tokens; of 2 USD it is 2.2178 times too much.
MILLION = "cost_per_million_output_tokens: {max: 2 USD}"


def test_ways_out_of_a_cost_of_tokens() -> None:
    """2.218 requests/s, 48.2 % of 4.6006; 4 / 2.2178 = 1 replica, which serves 1 of 1.15; 2 / 2.2178 = 0.902 USD."""
    hint = missed(MILLION).hint
    assert "a load of 2.22 requests/s on the same hardware, 48.2 % of what it serves" in hint
    assert "1 replica;" in hint
    assert "an accelerator at 0.902 USD/hour" in hint


@pytest.mark.parametrize("change", [{"RATE": "2.218"}, {"REPLICAS": "1"}, {"PRICE": "0.901 USD/hour"}])
def test_each_way_holds(change: dict[str, str]) -> None:
    assert outcome(MILLION).outcome == "missed"
    assert outcome(MILLION, **change).outcome == "met"


def test_where_no_load_would_do() -> None:
    """At saturation it is 8 / (4.6006 x 501 x 0.0036) = 0.964 USD: a limit of 0.5 takes another price or more."""
    hint = missed("cost_per_million_output_tokens: {max: 0.5 USD}").hint
    assert "more load on the same hardware (at saturation it is 0.964 USD)" in hint
    assert "1 replica" not in hint


def test_ways_out_of_a_cost_of_the_month() -> None:
    """5840 USD a month of 4 replicas, for 3000: 2 replicas, which serve 1 of 2.3; or 1.03 USD an hour each."""
    hint = missed("cost: {max: 3000 USD/month}").hint
    assert "2 replicas;" in hint and "an accelerator at 1.03 USD/hour" in hint
    assert outcome("cost: {max: 3000 USD/month}", REPLICAS="2").outcome == "met"


def test_a_cap_that_keeps_the_power() -> None:
    """1.2 kW / 1.25 = 960 W, less 400 W of hosts: 140 W for each of 4."""
    assert "`hardware.power.limit: 140 W`" in missed("power: {max: 1.2 kW}").hint
    assert outcome("power: {max: 1.2 kW}", LIMIT="limit: 140 W, ").outcome == "met"


def test_the_cost_of_a_finite_run_is_an_amount() -> None:
    judgement = judge("cost: {max: 1 USD}", **{"rate: RATE request/s": "concurrency: 16, requests: 10000"})
    found = [item for item in judgement.findings if item.id == "objective-missed"]
    assert "USD against at most 1.00 USD" in found[0].message and "USD/hour" not in found[0].message
