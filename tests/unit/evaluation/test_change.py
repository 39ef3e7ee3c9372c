"""`change` is an overlay on the document: bound again, reported in its class, validated like a spec."""

from planner import source
from planner.findings import Verdict
from planner.pipeline import Judgement, judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: changed}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 32, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
levers:
"""
HALF = "  - {use: change, name: fewer-users, set: {workload: {load: {concurrency: 8}}}, status: STATUS}\n"
GROUPED = """\
  - use: change
    name: grouped-query
    set: {model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}}}
    status: STATUS
"""


def judge(text: str) -> Judgement:
    document, findings = source.parse(text)
    assert document is not None, findings
    return judge_document(document, today="2026-01-01")


def test_a_requirement_is_changed_last_and_its_effect_shown() -> None:
    # 16 x 8192 x 524,288 bytes = 68.7 GB does not fit beside 14 GB; 8 users need 34.4 GB: it does.
    judgement = judge(SPEC + HALF.replace("STATUS", "adopt"))
    assert judgement.result is not None
    assert not judgement.result.baseline.memory.fits
    assert judgement.result.shipped.memory.fits
    step = judgement.result.steps[-1]
    assert step.lever.lever_class == "requirement-changing"
    assert step.effect is not None and round(step.effect["kv_cache_bytes"], 6) == -0.5


def test_another_model_changes_the_output_and_obliges_evidence() -> None:
    judgement = judge(SPEC + GROUPED.replace("STATUS", "adopt"))
    assert judgement.result is not None
    assert judgement.result.steps[-1].lever.lever_class == "output-changing"
    # A quarter of the KV heads: 17.2 GB of cache, 31.2 ms a step.
    step = judgement.result.shipped.latency.decode_step_s
    assert step is not None and round(step * 1e3, 1) == 31.2
    assert judgement.verdict is Verdict.UNPROVEN


def test_two_overlays_add_up_in_the_planners_order() -> None:
    judgement = judge(SPEC + HALF.replace("STATUS", "adopt") + GROUPED.replace("STATUS", "adopt"))
    assert judgement.result is not None
    assert [step.lever.name for step in judgement.result.steps] == ["grouped-query", "fewer-users"]
    # 14 + 8.59 GB at 1 TB/s.
    step = judgement.result.shipped.latency.decode_step_s
    assert step is not None and round(step * 1e3, 1) == 22.6


def test_a_considered_overlay_ships_nothing() -> None:
    judgement = judge(SPEC + HALF.replace("STATUS", "consider"))
    assert judgement.result is not None
    assert not judgement.result.shipped.memory.fits
    after = judgement.result.steps[-1].after
    assert after is not None and after.memory.fits


def test_an_overlay_is_validated_where_it_stands() -> None:
    judgement = judge(SPEC + "  - {use: change, name: wrong, set: {workload: {load: {concurency: 8}}}}\n")
    assert judgement.verdict is Verdict.INVALID
    assert any(
        finding.id == "unknown-key" and finding.location and finding.location.line == 12
        for finding in judgement.findings
    )
