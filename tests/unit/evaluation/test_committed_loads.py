"""The four committed specs under open loads tell what they are there to tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.api import check_spec
from planner.pipeline import Judgement

SPECS = Path(__file__).parents[3] / "specs"


def judged(name: str, *sets: str) -> Judgement:
    judgement = check_spec(SPECS / f"{name}.yaml", sets=sets)
    assert judgement.result is not None, [item.message for item in judgement.findings]
    return judgement


def simulated(judgement: Judgement) -> Any:
    assert judgement.result is not None
    return judgement.result.detail.served.simulated.outcome


def test_overload_says_by_how_much_and_gives_no_latency() -> None:
    judgement = judged("overloaded-rag")
    assert judgement.result is not None
    assert judgement.verdict == judgement.expected == "infeasible"
    found = next(item for item in judgement.findings if item.id == "load-exceeds-capacity")
    values = found.values
    assert values["offered_requests_per_s"] == 9.0
    assert values["utilisation"] == pytest.approx(9.0 / values["max_requests_per_s"]) and values["utilisation"] > 2.0
    assert 0.0 < values["largest_rate_that_holds_per_s"] < values["max_requests_per_s"]
    assert values["replicas"] == 7  # ceil(9 / (3.98 / 2) / 0.7)
    shipped = judgement.result.shipped
    assert shipped.latency.time_to_first_token_s.p95 is None and shipped.latency.request_latency_s.mean is None
    # What it would take is considered, and would hold.
    after = next(step.after for step in judgement.result.steps if step.lever.name == "four-nodes")
    assert after is not None and after.latency.time_to_first_token_s.p95 is not None


def test_a_short_queue_turns_some_away_and_keeps_the_rest_in_time() -> None:
    judgement = judged("rejecting-api")
    assert judgement.result is not None and judgement.verdict in ("feasible", "at-risk")
    outcome = simulated(judgement)
    assert 0.001 < outcome.rejected_fraction < 0.03
    assert set(outcome.rejected_why) == {"queue is full", "waited too long"}
    assert outcome.waiting["max"] <= 2.0 + 1e-9  # the time-out
    # Without the policy the same bursts wait: everyone is served, the last of them late.
    waiting = judged("rejecting-api", "/levers=[]")
    assert simulated(waiting).rejected == 0
    assert simulated(waiting).first_token["p99"] > 2.0 * outcome.first_token["p99"]


def test_admission_on_demand_preempts_and_reserving_the_maximum_does_not() -> None:
    judgement = judged("preempting-reasoning")
    assert "requests-preempted" in {item.id for item in judgement.findings}
    assert simulated(judgement).preemptions > 100
    reserved = judged("preempting-reasoning", "/levers/admission-policy/status=adopt")
    assert "requests-preempted" not in {item.id for item in reserved.findings}
    # Three promised maxima fit: 33,776 tokens over 3,000 + 8,000.
    assert reserved.result is not None and reserved.result.shipped.memory.max_concurrency == pytest.approx(
        3.07, abs=0.01
    )


def test_an_agent_lives_on_its_prefix_cache_until_the_cache_is_full() -> None:
    judgement = judged("coding-agent")
    assert judgement.result is not None and judgement.verdict in ("feasible", "at-risk")
    outcome = simulated(judgement)
    assert outcome.hit_rate > 0.9
    # 18 turns with 17 pauses of 9 s
    assert outcome.session["p50"] > 17 * 9.0
    # 6 sessions a minute of 18 turns: 1.8 requests a second, each of some 21,000 tokens of prompt
    assert judgement.result.shipped.throughput.requests_per_s == pytest.approx(1.8, rel=0.06)
    # Twice the sessions evict one another: what was cached is computed again, and the queue grows.
    crowded = judged("coding-agent", "/workload/load/rate=12 session/minute")
    assert "load-exceeds-capacity" in {item.id for item in crowded.findings}
    assert crowded.result is not None and crowded.result.shipped.latency.time_to_first_token_s.p95 is None
