"""What a load asks for and the engine or the model does not serve; figures of memory that no card has."""

from __future__ import annotations

import pytest

from planner import source
from planner.findings import Finding, Severity, Verdict
from planner.pipeline import Judgement, judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: not-served}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: l40s}
engine: {name: vllm, version: "0.11", max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""


def judge(*changes: tuple[str, str]) -> Judgement:
    text = SPEC
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    document, problems = source.parse(text)
    assert document is not None, problems
    return judge_document(document, today="2026-01-01")


def found(judgement: Judgement, identifier: str) -> Finding | None:
    return next((item for item in judgement.findings if item.id == identifier), None)


IMAGES = ("output_tokens: 100", "output_tokens: 100, images: {count: 2, tokens: 300}")


def test_a_text_model_takes_no_images() -> None:
    judgement = judge(IMAGES)
    finding = found(judgement, "images-not-taken")
    assert finding is not None
    assert judgement.verdict is Verdict.INFEASIBLE
    assert finding.path == "/workload/classes/all/images"
    assert "takes text alone" in finding.message


@pytest.mark.parametrize(("limit", "refused"), [("", False), (", limit_mm_per_prompt: {image: 1}", True)])
def test_images_of_a_prompt_against_what_the_engine_admits(limit: str, refused: bool) -> None:
    model = ("meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct")
    judgement = judge(IMAGES, model, ("max_model_len: 4096", f"max_model_len: 4096{limit}"))
    assert (found(judgement, "images-not-taken") is not None) is refused


def test_a_model_by_figures_says_nothing_of_images() -> None:
    figures = "{architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}}"
    assert found(judge(IMAGES, ("{ref: meta-llama/Llama-3.1-8B-Instruct}", figures)), "images-not-taken") is None


ADAPTERS = ("output_tokens: 100", "output_tokens: 100, adapters: 8")


@pytest.mark.parametrize(("engine", "refused"), [("vllm", True), ("sglang", True), ("ideal", False)])
def test_adapters_without_slots_are_refused(engine: str, refused: bool) -> None:
    judgement = judge(ADAPTERS, ('name: vllm, version: "0.11"', f"name: {engine}"))
    assert (found(judgement, "adapters-disabled") is not None) is refused


def test_slots_without_a_rank_are_counted_with_the_rank_that_the_engine_takes() -> None:
    # vLLM's default is 16. A layer's projections, inputs + outputs: q 4096 + 4096, k and v 4096 + 1024, o 4096 + 4096,
    # gate and up 4096 + 14336, down 14336 + 4096: 81,920. x 32 layers x rank 16 x 8 slots x 2 bytes = 640 MiB.
    finding = found(judge(ADAPTERS, ("4096}", "4096, max_loras: 8}")), "adapter-memory")
    assert finding is not None
    assert finding.values["adapter_bytes"] == 81_920 * 32 * 16 * 8 * 2
    assert finding.severity is Severity.NOTE


def test_slots_whose_rank_nobody_knows_are_said() -> None:
    changes = (('name: vllm, version: "0.11"', "name: sglang"), ("4096}", "4096, max_loras: 8}"))
    finding = found(judge(ADAPTERS, *changes), "adapter-memory")
    assert finding is not None
    assert finding.severity is Severity.WARNING
    assert "rank is not declared" in finding.message


def test_slots_that_no_class_uses_are_said() -> None:
    finding = found(judge(("4096}", "4096, max_loras: 8}")), "adapter-memory")
    assert finding is not None
    assert "no class uses adapters" in finding.message
    assert finding.hint.startswith("Remove max_loras")


@pytest.mark.parametrize(
    ("declared", "path", "said"),
    [
        ("usable_memory: 800 GiB", "/hardware/usable_memory", "800.0 GiB"),
        ("usable_memory: 49 GiB", "/hardware/usable_memory", "48.0 GiB"),
        ("reserved: 60 GiB", "/hardware/reserved", "leave nothing"),
        ("usable_memory: 40 GiB, reserved: 40 GiB", "/hardware/reserved", "leave nothing"),
        ("usable_memory: 48 GiB", None, ""),
        ("usable_memory: 44 GiB, reserved: 0 GiB", None, ""),
        ("reserved: 4 GiB", None, ""),
    ],
)
def test_memory_that_the_card_does_not_have(declared: str, path: str | None, said: str) -> None:
    judgement = judge(("accelerator: l40s", f"accelerator: l40s, {declared}"))
    finding = found(judgement, "figures-disagree")
    assert (finding.path if finding else None) == path
    if finding:
        assert said in finding.message
        assert judgement.verdict is Verdict.INVALID


@pytest.mark.parametrize(
    ("engine", "verdict"), [("vllm", Verdict.INFEASIBLE), ("sglang", Verdict.FEASIBLE), ("ideal", Verdict.FEASIBLE)]
)
def test_experts_of_a_dense_model(engine: str, verdict: Verdict) -> None:
    sizes = f"name: {engine}, tensor_parallel_size: 2, expert_parallel_size: 2"
    judgement = judge(('name: vllm, version: "0.11"', sizes), ("accelerator: l40s", "accelerator: l40s, count: 2"))
    assert found(judgement, "experts-of-a-dense-model") is not None
    assert judgement.verdict is verdict


@pytest.mark.parametrize(("table", "near"), [("h100sxm", "h100-sxm"), ("../../secrets", "")])
def test_tables_that_are_not_there_are_said(table: str, near: str) -> None:
    card = f"{{ref: l40s, interconnect: {{collectives: {table}}}}}"
    judgement = judge(("accelerator: l40s", f"accelerator: {card}"))
    finding = found(judgement, "unknown-table")
    assert finding is not None
    assert near in finding.hint
    assert judgement.verdict is Verdict.FEASIBLE


def test_the_last_turn_of_a_session_is_a_request_too() -> None:
    # 100 + 39 x 200 + 100 = 8,000 of 4,096 tokens.
    session = "output_tokens: 100, session: {turns: 40, turn_delay: 3 s, context_growth: 200}"
    judgement = judge(("{concurrency: 1}", "{sessions: 2}"), ("output_tokens: 100", session))
    finding = found(judgement, "engine-request-too-long")
    assert finding is not None
    assert finding.values["longest_request"] == 8000
    assert "in turn 40 of a session" in finding.message
    assert judgement.verdict is Verdict.INFEASIBLE


def test_evidence_that_is_not_there_is_an_error() -> None:
    lever = "\nlevers: [{use: quantize-weights, format: fp8, evidence: [PATH]}]"
    for path, identifier in (
        ("./nope.yaml", "reference-not-found"),
        ("../../../../etc/passwd", "reference-outside-project"),
    ):
        judgement = judge(("output_tokens: 100}]}\n", f"output_tokens: 100}}]}}{lever.replace('PATH', path)}\n"))
        finding = found(judgement, identifier)
        assert finding is not None, [item.id for item in judgement.findings]
        assert finding.path == "/levers/quantize-weights/evidence/0"
