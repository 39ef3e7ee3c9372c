"""Reports' input, made by hand from the real dataclasses: the support chat, and the textbook case that does not fit.

The arithmetic is written beside the figures; nothing here comes from the planner's own evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from planner.domain.accelerator import Accelerator, Hardware, Replicas
from planner.domain.cost import Cost
from planner.domain.engine import EngineSettings
from planner.domain.evaluation import (
    Bands,
    Evaluation,
    Latency,
    LeverStep,
    Memory,
    ObjectiveOutcome,
    Obligation,
    Percentiles,
    PlanResult,
    Split,
    Throughput,
)
from planner.domain.levers import LeverUse
from planner.domain.model import LayerGroup, Model, Weight
from planner.domain.plan import Plan
from planner.domain.workload import Length, Load, Objective, Objectives, RequestClass, Workload
from planner.findings import Finding, Location, Severity, Verdict, Waiver
from planner.report.analysis_types import (
    Analysis,
    Assumption,
    DecidingMeasurement,
    MemoryRow,
    ProvenanceRow,
    Quantity,
    Sensitivity,
    TurningPoint,
    VerificationStep,
)
from planner.source.document import Document

GIB = 2.0**30


@dataclass(frozen=True)
class ReportInput:
    document: Document
    plan: Plan
    result: PlanResult
    findings: tuple[Finding, ...]
    verdict: Verdict
    analysis: Analysis

    def arguments(self) -> tuple[Any, ...]:
        return self.document, self.plan, self.result, self.findings, self.verdict, self.analysis


def model(name: str, parameters: int) -> Model:
    """A model of so many parameters, in one weight: the report prints no more of it."""
    return Model(name, 1, 1, (LayerGroup((0,), norms=(Weight("all", parameters),)),))


def document(file: str, name: str) -> Document:
    root = Path("/project")
    return Document(file, root / "specs", root, {"kind": "Deployment", "metadata": {"name": name}})


# --- Textbook: 7e9 parameters x 2 bytes = 14e9; 2 x 32 layers x 32 heads x 128 x 2 bytes x 16 x 8192 tokens = 68.72e9.
# One step reads all at 1 TB/s: 82.72 ms, 16 / 0.08272 = 193.4 tokens/s, 12.09 each. 2 x 7e9 x 16 / 40e12 = 5.6 ms.
def textbook_evaluation(weights: float, cache: float) -> Evaluation:
    step = (weights + cache) / 1e12
    return Evaluation(
        memory=Memory(
            capacity_bytes=80e9,
            usable_bytes=80e9,
            weights_bytes=weights,
            kv_cache_bytes=cache,
            state_bytes=0.0,
            activation_bytes=0.0,
            cuda_graph_bytes=0.0,
            runtime_bytes=0.0,
            headroom_bytes=0.0,
            free_bytes=80e9 - weights - cache,
            fits=weights + cache <= 80e9,
            weights_total_bytes=weights,
            kv_pool_bytes=80e9 - weights,
            kv_capacity_tokens=(80e9 - weights) // (cache / 16 / 8192),
            max_concurrency=(80e9 - weights) / (cache / 16),
        ),
        latency=Latency(
            inter_token_latency_s=Percentiles(mean=step),
            decode_step_s=step,
            decode=Split("bandwidth", step, 5.6e-3, 0.0, 0.0),
        ),
        throughput=Throughput(output_tokens_per_s=16 / step, output_tokens_per_s_per_user=1 / step),
        cost=Cost(),
        objectives=(),
        bands=Bands(word="formula"),
    )


@pytest.fixture
def textbook() -> ReportInput:
    cache = 2 * 32 * 32 * 128 * 2 * 16 * 8192.0
    before, after = textbook_evaluation(14e9, cache), textbook_evaluation(14e9, cache / 4)
    lever = LeverUse("change", "output-changing", "consider", name="grouped-queries")
    step = LeverStep(
        lever, {"kv_cache_bytes": -0.75}, after, (Obligation("quality on your own set"),), ("cache memory", "bandwidth")
    )
    card = Accelerator("inline", "the declared accelerator", capacity_bytes=80e9, bandwidth_bytes_per_s=1e12)
    plan = Plan(
        "seven-billion",
        model("seven-billion", 7_000_000_000),
        Hardware((card,)),
        EngineSettings("ideal"),
        Workload(Load("concurrency", concurrency=16), (RequestClass("all", context_tokens=8192),)),
        Objectives(),
        (lever,),
        expect="infeasible",
    )
    finding = Finding(
        "memory-exceeded",
        Severity.ERROR,
        "weights and cache need 82.7 GB, 80.0 GB are usable",
        "lower load.concurrency to 15, or adopt a lever on the cache",
        "/workload/load/concurrency",
        location=Location("specs/seven.yaml", 14, 11),
        verdict=Verdict.INFEASIBLE,
    )
    analysis = Analysis(
        memory=(
            MemoryRow("baseline", 14e9, cache, 0.0, 80e9),
            MemoryRow("shipped with change (grouped-queries)", 14e9, cache / 4, 0.0, 80e9),
        ),
        provenance=(
            ProvenanceRow(
                "weights",
                Quantity(14e9, "bytes"),
                "formula",
                "parameters x bytes of one",
                "P * b",
                (("P", "7e9"), ("b", "2")),
            ),
        ),
    )
    return ReportInput(
        document("specs/seven.yaml", "seven-billion"),
        plan,
        PlanResult(before, before, (step,), largest_concurrency=15.0),
        (finding,),
        Verdict.INFEASIBLE,
        analysis,
    )


# --- Support chat: 70.55e9 parameters x 2 bytes / 4 = 35.28e9 a card. 80 layers x 2 x 8 x 128 x 2 / 4 = 81,920 bytes a
# token and card; 32 sequences a replica x 1,300 tokens = 3.41e9. 0.9 x 79.18 GiB = 71.26 GiB usable.
def chat_evaluation(weights: float, cache: float, step: float, ttft: float, tokens_per_step: float = 1.0) -> Evaluation:
    usable, rest = 0.9 * 79.18 * GIB, (2.1 * GIB, 0.8 * GIB, 0.6 * GIB)
    gap = step / tokens_per_step * 1.2
    rate = 64 / gap
    return Evaluation(
        memory=Memory(
            capacity_bytes=79.18 * GIB,
            usable_bytes=usable,
            weights_bytes=weights,
            kv_cache_bytes=cache,
            state_bytes=0.0,
            activation_bytes=rest[0],
            cuda_graph_bytes=rest[1],
            runtime_bytes=rest[2],
            headroom_bytes=0.1 * 79.18 * GIB,
            free_bytes=usable - weights - cache - sum(rest),
            fits=True,
            weights_total_bytes=4 * weights,
            kv_pool_bytes=usable - weights - sum(rest),
            kv_capacity_tokens=(usable - weights - sum(rest)) / 81_920,
            max_concurrency=(usable - weights - sum(rest)) / 81_920 / 7500,
        ),
        latency=Latency(
            time_to_first_token_s=Percentiles(mean=ttft, p95=ttft * 3.1),
            inter_token_latency_s=Percentiles(mean=gap, p95=gap * 1.1),
            request_latency_s=Percentiles(mean=ttft + 250 * gap),
            decode_step_s=step,
            prefill_s=ttft,
            decode=Split("bandwidth", step * 0.78, step * 0.11, step * 0.15, step * 0.07),
            prefill=Split("compute", ttft * 0.1, ttft * 0.8, ttft * 0.15, ttft * 0.05),
        ),
        throughput=Throughput(rate, rate * 4.6, rate / 250, 1 / gap, rate / 8, rejected_fraction=0.0),
        cost=Cost(19.92, 19.92 * 730, 19.92 / (rate * 3600) * 1e6),
        objectives=(),
        bands=Bands(
            memory=(0.97, 1.03), latency=(0.5, 2.0), first_token=(0.5, 2.0), throughput=(0.5, 2.0), cost=(0.5, 2.0)
        ),
    )


def chat_objectives(shipped: Evaluation) -> tuple[ObjectiveOutcome, ...]:
    first, gap = shipped.latency.time_to_first_token_s.p95, shipped.latency.inter_token_latency_s.p95
    user, cost = shipped.throughput.output_tokens_per_s_per_user, shipped.cost.usd_per_million_output_tokens
    assert first is not None and gap is not None and user is not None and cost is not None
    share = (shipped.memory.free_bytes or 0.0) / shipped.memory.usable_bytes
    return (
        ObjectiveOutcome("time_to_first_token.p95", None, 0.5, first, first / 2, first * 2, "met"),
        ObjectiveOutcome("inter_token_latency.p95", None, 0.04, gap, gap / 2, gap * 2, "at-risk"),
        ObjectiveOutcome("output_tokens_per_second_per_user", None, 25, user, user / 2, user * 2, "at-risk", "min"),
        ObjectiveOutcome("cost_per_million_output_tokens", None, 3, cost, cost / 2, cost * 2, "at-risk"),
        ObjectiveOutcome("rejected_requests", None, 0.001, 0.0, 0.0, 0.0, "met"),
        ObjectiveOutcome("memory_headroom", None, 0.1, share, share - 0.03, share + 0.03, "met", "min"),
    )


def _chat_steps(baseline: Evaluation, shipped: Evaluation) -> tuple[LeverStep, ...]:
    weights, cache = 35.28e9, 3.41e9
    graphs = chat_evaluation(weights, cache, 23.1e-3, 142e-3)
    return (
        LeverStep(LeverUse("cuda-graphs", "output-preserving", source="default"), {}, graphs, reduces=("arithmetic",)),
        LeverStep(
            LeverUse("prefix-caching", "output-preserving"),
            {"time_to_first_token_s": -0.6},
            shipped,
            (),
            ("arithmetic",),
        ),
        LeverStep(
            LeverUse("speculative-decoding", "output-preserving", "consider"),
            {"decode_step_s": 0.3},
            chat_evaluation(weights + 0.62e9, cache + 0.2e9, 31.0e-3, 60e-3, 2.77),
            (),
            ("bandwidth",),
        ),
        LeverStep(
            LeverUse("kv-offload", "output-preserving", "consider"),
            None,
            None,
            (),
            ("cache memory",),
            "the effect of offloading is not evaluated yet",
        ),
        LeverStep(
            LeverUse("quantize-weights", "output-changing", "consider", evidence=("evidence/support-chat-fp8.yaml",)),
            {"weights_bytes": -0.49},
            chat_evaluation(18.0e9, cache, 13.4e-3, 35e-3),
            (
                Obligation("task quality of the FP8 checkpoint on your own set"),
                Obligation("long-context recall", "stale"),
            ),
            ("weight memory", "bandwidth"),
        ),
        LeverStep(
            LeverUse("quantize-kv-cache", "output-changing", "reject", reason="Fails our 32k retrieval set."),
            None,
            None,
            (Obligation("long-context recall"),),
            ("cache memory", "bandwidth"),
        ),
    )


def chat_steps(baseline: Evaluation, shipped: Evaluation) -> tuple[LeverStep, ...]:
    """Each with what it is compared with: the adopted one before it, or what ships."""
    steps, standing = [], baseline
    for step in _chat_steps(baseline, shipped):
        before = standing if step.lever.status == "adopt" else shipped
        steps.append(replace(step, compared=(before, step.after)) if step.after is not None else step)
        standing = step.after if step.lever.status == "adopt" and step.after is not None else standing
    return tuple(steps)


@pytest.fixture
def support_chat() -> ReportInput:
    baseline = chat_evaluation(35.28e9, 3.41e9, 26.5e-3, 142e-3)
    bare = chat_evaluation(35.28e9, 3.41e9, 23.1e-3, 56e-3)
    shipped = replace(bare, objectives=chat_objectives(bare))
    steps = chat_steps(baseline, shipped)
    card = Accelerator("h100-sxm", "NVIDIA H100 SXM 80GB", capacity_bytes=79.18 * GIB, catalogue_id="h100-sxm")
    prompt = Length({"mean": 1150, "p50": 900, "p95": 3000, "max": 6000}, ("p50", "p95", "max"))
    output = Length({"mean": 330, "p50": 250, "p95": 800, "max": 1500}, ("p50", "p95", "max"))
    limits = (
        Objective("time_to_first_token", "p95", "max", 0.5),
        Objective("inter_token_latency", "p95", "max", 0.04),
    )
    plan = Plan(
        "support-chat",
        model("meta-llama/Llama-3.1-70B-Instruct", 70_553_706_496),
        Hardware((card,) * 4, Replicas(2, 2), price_usd_per_hour=2.49),
        EngineSettings("vllm", "0.11", tensor_parallel_size=4, max_model_len=8192, max_num_seqs=128),
        Workload(Load("concurrency", concurrency=64), (RequestClass("chat", prompt=prompt, output=output),)),
        Objectives(limits),
        tuple(step.lever for step in steps),
        description="Customer support assistant, EU region.",
        owner="team-assist",
        assumptions=("A closed loop starts no burst.",),
        catalogue={"h100-sxm": "sha256:5f1c9d0a7be2446188", "meta-llama/Llama-3.1-70B-Instruct": "sha256:8a77"},
    )
    return ReportInput(
        document("specs/prod.yaml", "support-chat"),
        plan,
        PlanResult(baseline, shipped, steps, 118.0, 14200.0, notes=("TTFT is without queueing.",)),
        chat_findings(),
        Verdict.AT_RISK,
        chat_analysis(),
    )


def chat_findings() -> tuple[Finding, ...]:
    waiver = Waiver("price-undated", "/hardware/price", "Contract price, under NDA.", "2027-01-31")
    return (
        Finding(
            "objective-at-risk",
            Severity.WARNING,
            "inter_token_latency.p95 is 30.5 ms, band 15.2 to 61.0 ms, limit 40.0 ms",
            "calibrate with a benchmark of this deployment, or adopt quantised weights",
            "/objectives/inter_token_latency",
            location=Location("specs/prod.yaml", 32, 3),
            verdict=Verdict.AT_RISK,
        ),
        Finding("price-undated", Severity.WARNING, "the price has no date", "", "/hardware/price", waived=waiver),
        Finding("quality-undeclared", Severity.NOTE, "no objective says what quality is required", "", "/objectives"),
    )


def chat_analysis() -> Analysis:
    configurations = (
        MemoryRow("baseline", 35.28e9, 3.41e9, 3.5 * GIB, 71.262 * GIB),
        MemoryRow("shipped", 35.28e9, 3.41e9, 3.5 * GIB, 71.262 * GIB),
        MemoryRow("with speculative-decoding", 35.9e9, 3.61e9, 3.5 * GIB, 71.262 * GIB),
        MemoryRow("with quantize-weights", 18.0e9, 3.41e9, 3.5 * GIB, 71.262 * GIB),
    )
    return Analysis(
        turning_points=(
            TurningPoint(
                "Context at which cache reads exceed weight reads",
                Quantity(13458, "tokens"),
                Quantity(1300, "tokens"),
                "weight reads dominate",
                "weights / (sequences * cache bytes a token)",
            ),
            TurningPoint(
                "Batch at which arithmetic overtakes bandwidth",
                Quantity(271, "sequences"),
                Quantity(32, "sequences"),
                "bandwidth binds",
                "peak FLOP/s * bytes / (2 * bandwidth)",
            ),
            TurningPoint(
                "Batch at which speculation stops paying",
                Quantity(None, "sequences"),
                Quantity(32, "sequences"),
                "",
                "",
                "no draft is adopted",
            ),
        ),
        sensitivities=(
            Sensitivity(
                "workload.load.concurrency",
                Quantity(64, "sequences"),
                Quantity(81, "sequences"),
                0.265625,
                "inter_token_latency.p95",
                "missed",
            ),
            Sensitivity(
                "hardware.derate.bandwidth",
                Quantity(0.8, "factor"),
                Quantity(0.61, "factor"),
                -0.2375,
                "inter_token_latency.p95",
                "missed",
            ),
        ),
        deciding=DecidingMeasurement(
            "inter_token_latency",
            ("inter_token_latency.p95", "output_tokens_per_second_per_user", "cost_per_million_output_tokens"),
            3,
            Quantity(30.5e-3, "seconds"),
            15.2e-3,
            61.0e-3,
            "prior",
            "Run 64 concurrent requests for ten minutes and read the gap between tokens at p95",
        ),
        provenance=(
            ProvenanceRow("capacity", Quantity(79.18 * GIB, "bytes"), "catalogue", "https://example.org/h100.pdf"),
            ProvenanceRow("price", Quantity(2.49, "usd/hour"), "declared", "/hardware/price"),
            ProvenanceRow(
                "decode step",
                Quantity(23.1e-3, "seconds"),
                "formula",
                "roofline",
                "max(bytes / bandwidth, flop / peak) + all-reduce + launch",
                (("bytes", "38.7 GB"), ("bandwidth", "2.68 TB/s")),
            ),
            ProvenanceRow("engine", "vllm 0.11", "declared", "/engine/version"),
        ),
        assumptions=(Assumption("Arrivals are a steady closed loop.", "spec"),),
        verification=(
            VerificationStep(
                "Start the engine and read the cache size that it prints",
                "vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4",
                "GPU KV cache size: about 390,000 tokens",
            ),
            VerificationStep("Measure the gap between tokens under 64 concurrent requests"),
        ),
        memory=configurations,
    )
