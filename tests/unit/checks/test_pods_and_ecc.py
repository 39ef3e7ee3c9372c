"""Pods: shared memory and updates; error correction by memory type. Arithmetic by hand."""

from __future__ import annotations

import pytest

from planner import source
from planner.checks import kubernetes_rollout, kubernetes_shared_memory, memory_ecc
from planner.findings import Finding, Verdict
from planner.pipeline import Judgement, judge_document

GIB = 2.0**30


def judged(spec: str) -> Judgement:
    document, problems = source.parse(spec)
    assert document is not None, problems
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.plan is not None, judgement.findings
    return judgement


def findings(spec: str, identifier: str) -> list[Finding]:
    return [item for item in judged(spec).findings if item.id == identifier]


class TestSharedMemory:
    def test_a_container_has_64_mib(self) -> None:
        (found,) = findings(kubernetes_shared_memory.FAILING, kubernetes_shared_memory.ID)
        assert found.values["shared_memory_bytes"] == 67_108_864
        assert found.verdict is Verdict.INFEASIBLE

    def test_little_is_at_risk(self) -> None:
        spec = kubernetes_shared_memory.PASSING.replace("10 GiB", "256 MiB")
        (found,) = findings(spec, kubernetes_shared_memory.ID)
        assert found.verdict is Verdict.AT_RISK

    def test_one_rank_needs_none(self) -> None:
        spec = kubernetes_shared_memory.FAILING.replace("count: 2, ", "").replace(
            "parallel_size: 2", "parallel_size: 1"
        )
        assert not findings(spec, kubernetes_shared_memory.ID)

    def test_pipeline_stages_are_ranks_too(self) -> None:
        spec = kubernetes_shared_memory.FAILING.replace("tensor_parallel_size", "pipeline_parallel_size")
        assert findings(spec, kubernetes_shared_memory.ID)

    def test_nothing_is_said_without_pods(self) -> None:
        spec = kubernetes_shared_memory.FAILING.replace(", kubernetes: {strategy: Recreate}", "")
        assert not findings(spec, kubernetes_shared_memory.ID)


@pytest.mark.parametrize(
    ("replicas", "pods", "verdicts"),
    [
        # Replicas of 2 accelerators. By default a quarter up, rounded up, and a quarter down, rounded down.
        (1, "accelerators: 2", [Verdict.AT_RISK]),  # surge 1, unavailable 0, none spare
        (1, "accelerators: 3", [Verdict.AT_RISK]),  # one spare of two
        (1, "accelerators: 4", []),
        (3, "accelerators: 6", [Verdict.AT_RISK]),
        (4, "accelerators: 8", []),  # one of four may stop first
        (1, "accelerators: 2, max_surge: 0, max_unavailable: 1", []),
        (1, "accelerators: 2, max_surge: 0", [Verdict.INFEASIBLE]),  # nothing up, nothing down
        (4, "accelerators: 8, max_unavailable: 0", [Verdict.AT_RISK]),
        (2, "accelerators: 3", [Verdict.INFEASIBLE]),  # two replicas take four
        (1, "strategy: RollingUpdate", [None]),
        (1, "strategy: Recreate", []),
    ],
)
def test_rollout(replicas: int, pods: str, verdicts: list[Verdict | None]) -> None:
    spec = kubernetes_rollout.FAILING.replace("accelerators: 2", pods).replace(
        "count: 2,", f"count: 2, replicas: {replicas},"
    )
    assert [item.verdict for item in findings(spec, kubernetes_rollout.ID)] == verdicts


class TestErrorCorrection:
    @pytest.mark.parametrize(
        ("card", "ecc", "factor"),
        [
            ("rtx-a6000", "true", 15 / 16),  # catalogue: 49,140 MiB, off
            ("rtx-a6000", "false", 1.0),
            ("l40s", "true", 1.0),  # catalogue: 46,068 MiB, on
            ("l40s", "false", 16 / 15),
            ("a100-sxm-80", "true", 1.0),  # HBM
        ],
    )
    def test_capacity(self, card: str, ecc: str, factor: float) -> None:
        spec = memory_ecc.FAILING.replace("rtx-a6000", card).replace("ecc: true", f"ecc: {ecc}")
        plain = judged(spec.replace(f", ecc: {ecc}", "")).plan
        plan = judged(spec).plan
        assert plan is not None and plain is not None
        assert plan.hardware.capacity_bytes == pytest.approx(plain.hardware.capacity_bytes * factor)

    def test_48_gb_are_45(self) -> None:
        # 49,140 MiB x 15/16 = 46,069 MiB, the 46,068 that cards with it on report.
        (found,) = findings(memory_ecc.FAILING, memory_ecc.ID)
        assert found.values["ecc_bytes"] == pytest.approx(3 * GIB, rel=0.02)
