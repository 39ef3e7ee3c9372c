"""A calibration multiplies the catalogue's figures where its subject is what is planned, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import bind, source
from planner.domain.calibration import Calibration, CalibrationBands, Subject
from planner.domain.plan import Plan
from planner.evaluation import calibrated
from planner.evaluation.configure import configure, shipped
from planner.evaluation.step_cost import step_cost_of

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: measured}
model: {ref: meta-llama/Llama-3.1-8B-Instruct, revision: abc}
hardware: {accelerator: h100-sxm, count: 2}
engine: {name: vllm, version: "0.11", tensor_parallel_size: 2, max_model_len: 4096}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 200}]}
levers: [{use: quantize-weights, format: fp8}]
"""
WIDE = CalibrationBands((0.8, 1.25), (0.8, 1.25))
NARROW = CalibrationBands((0.9, 1.1), (0.9, 1.1))


def plan_of(text: str = SPEC) -> Plan:
    document, findings = source.parse(text)
    assert document is not None, findings
    plan, problems = bind.plan(document)
    assert plan is not None, problems
    return plan


def with_calibration(plan: Plan, subject: Subject, **multipliers: float) -> Plan:
    known = Calibration("calibration.yaml", "2026-11-01", subject, multipliers, NARROW, WIDE)
    return calibrated.judged(replace(plan, calibration=known))


def test_the_subject_of_a_plan_is_what_ships() -> None:
    assert calibrated.subject_of(shipped(plan_of())) == Subject(
        "meta-llama/Llama-3.1-8B-Instruct", "abc", "fp8", "bf16", "vllm", "0.11", "h100-sxm", 2, 1, 1, 1, "none"
    )


def test_bandwidth_divides_the_time_of_reading_and_leaves_the_arithmetic() -> None:
    plan = plan_of()
    plain = step_cost_of(shipped(plan))
    halved = step_cost_of(shipped(with_calibration(plan, calibrated.subject_of(shipped(plan)), bandwidth=0.5)))
    assert halved.linear_read_s == pytest.approx(2 * plain.linear_read_s)
    assert halved.linear_arithmetic_s == plain.linear_arithmetic_s
    assert halved.kernels_s == plain.kernels_s


def test_layer_step_and_collective_scale_their_own_terms() -> None:
    plan = plan_of()
    plain = step_cost_of(shipped(plan))
    scaled = step_cost_of(
        shipped(with_calibration(plan, calibrated.subject_of(shipped(plan)), layer=1.5, step=2.0, collective=3.0))
    )
    assert scaled.kernels_s == pytest.approx(1.5 * plain.kernels_s)
    assert scaled.host_s == pytest.approx(2.0 * plain.host_s)
    assert scaled.collectives[0].scale == pytest.approx(3.0 * plain.collectives[0].scale)
    assert scaled.linear_read_s == plain.linear_read_s


def test_a_step_of_the_ladder_is_of_the_family() -> None:
    """The baseline has the weights in 16 bits: not what was measured, but its neighbour."""
    plan = plan_of()
    known = with_calibration(plan, calibrated.subject_of(shipped(plan)), bandwidth=0.5)
    assert calibrated.calibration_of(shipped(known)) == (known.calibration, True)
    assert calibrated.calibration_of(configure(known, ())) == (known.calibration, False)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"revision": "abd"}, "revision"),
        ({"weights": "bf16"}, "weights"),
        ({"version": "0.10"}, "version"),
        ({"accelerator": "a100-sxm-80"}, "accelerator"),
        ({"tensor_parallel_size": 4}, "tensor parallel size"),
        ({"model": "meta-llama/Llama-3.1-70B-Instruct"}, "model"),
    ],
)
def test_another_subject_is_stale_and_not_used(changed: dict[str, object], what: str) -> None:
    plan = plan_of()
    subject = replace(calibrated.subject_of(shipped(plan)), **changed)  # type: ignore[arg-type]
    known = with_calibration(plan, subject, bandwidth=0.5)
    assert known.calibration is not None
    assert [item[0] for item in known.calibration.stale] == [what]
    assert step_cost_of(shipped(known)) == step_cost_of(shipped(plan))


def test_what_the_subject_does_not_state_may_be_anything() -> None:
    plan = plan_of()
    subject = Subject(model="meta-llama/Llama-3.1-8B-Instruct", engine="vllm", accelerator="h100-sxm")
    known = with_calibration(plan, subject, bandwidth=0.5)
    assert known.calibration is not None and not known.calibration.stale


def test_a_release_stands_for_its_patches() -> None:
    plan = plan_of()
    subject = replace(calibrated.subject_of(shipped(plan)), version="0.11.2")
    known = with_calibration(plan, subject, bandwidth=0.5)
    assert known.calibration is not None and not known.calibration.stale
