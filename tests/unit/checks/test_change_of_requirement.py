"""A change that loosens a limit has an effect, and the findings and the verdict say which limit, from what to what."""

from __future__ import annotations

from planner import source
from planner.checks import requirement_loosened
from planner.findings import Verdict
from planner.pipeline import Judgement, judge_document
from planner.reporting import texts


def judged(text: str) -> Judgement:
    document, findings = source.parse(text)
    assert document is not None, findings
    return judge_document(document, today="2026-01-01")


def test_a_loosened_limit_is_an_effect_and_is_said() -> None:
    """31.2 ms (31.2 GB at 1 TB/s) misses 25 ms and meets 40 ms."""
    judgement = judged(requirement_loosened.FAILING)
    assert judgement.verdict is Verdict.FEASIBLE
    found = {finding.id: finding for finding in judgement.findings}
    assert "lever-without-effect" not in found
    loosened = found["requirement-loosened"]
    assert "inter_token_latency.mean was loosened from 25 ms to 40 ms" in loosened.message
    assert loosened.values == {"objective": "inter_token_latency.mean", "from": 0.025, "to": 0.04}
    for report in texts(judgement, ("markdown", "html")).values():
        assert "A limit was loosened by a change: inter_token_latency.mean from 25 ms to 40 ms." in report


def test_a_change_to_the_same_limit_still_has_none() -> None:
    judgement = judged(requirement_loosened.FAILING.replace("mean: 40 ms", "mean: 25 ms"))
    ids = {finding.id for finding in judgement.findings}
    assert "lever-without-effect" in ids and "requirement-loosened" not in ids
