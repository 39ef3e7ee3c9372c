"""Waivers: a reason and a date excuse one finding; an expired one is an error, an unused one a warning."""

from planner import source
from planner.findings import Severity, Verdict
from planner.pipeline import Judgement, judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: waived}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
levers: [{use: quantize-weights, format: int8}]
"""
WAIVER = """
waivers:
  - {finding: evidence-missing, path: /levers/quantize-weights, reason: pilot without users, expires: 2026-06-30}
"""


def judge(text: str, today: str) -> Judgement:
    document, findings = source.parse(text)
    assert document is not None, findings
    return judge_document(document, today=today)


def test_without_a_waiver_it_is_unproven() -> None:
    assert judge(SPEC, "2026-06-30").verdict is Verdict.UNPROVEN


def test_a_waiver_excuses_the_finding_and_keeps_it_visible() -> None:
    judgement = judge(SPEC + WAIVER, "2026-06-30")
    assert judgement.verdict is Verdict.FEASIBLE
    waived = [finding for finding in judgement.findings if finding.waived]
    assert [finding.id for finding in waived] == ["evidence-missing"]
    assert waived[0].waived is not None and waived[0].waived.reason == "pilot without users"


def test_the_day_after_it_expires_it_is_an_error_that_names_the_date() -> None:
    judgement = judge(SPEC + WAIVER, "2026-07-01")
    assert judgement.verdict is Verdict.UNPROVEN
    expired = next(finding for finding in judgement.findings if finding.id == "waiver-expired")
    assert expired.severity is Severity.ERROR
    assert "2026-06-30" in expired.message


def test_an_unused_waiver_is_a_warning_that_names_the_nearest_place() -> None:
    judgement = judge(SPEC + WAIVER.replace("/levers/quantize-weights", "/levers/quantize-kv-cache"), "2026-06-30")
    unused = next(finding for finding in judgement.findings if finding.id == "waiver-unused")
    assert unused.severity is Severity.WARNING
    assert "/levers/quantize-weights" in unused.hint


def test_what_makes_a_spec_invalid_cannot_be_waived() -> None:
    waiver = "waivers:\n  - {finding: unit-error, path: /hardware/price, reason: no, expires: 2026-12-31}\n"
    judgement = judge(SPEC.replace("hardware: {", "hardware: {price: 2, ") + waiver, "2026-06-30")
    assert judgement.verdict is Verdict.INVALID
