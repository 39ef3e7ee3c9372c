"""The measured step never falls below the floor of what it reads; what it takes beside, by links and cards."""

import pytest

from planner import bind, source
from planner.evaluation.configure import shipped
from planner.evaluation.step_cost import step_cost_of
from planner.pipeline import judge_document

SPEC = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: measured}
model: {architecture: {parameters: 7e9, layers: 32, attention: ATTENTION}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ENGINE, max_model_len: 8192}
workload: {load: {concurrency: 16}, classes: [{name: all, context_tokens: 8192}]}
"""


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
@pytest.mark.parametrize("heads", ["", "heads: 32, "])
def test_the_cache_is_read_with_and_without_known_heads(engine: str, heads: str) -> None:
    attention = f"{{{heads}kv_heads: 8, head_dim: 128}}"
    document, findings = source.parse(SPEC.replace("ATTENTION", attention).replace("ENGINE", engine))
    assert document is not None, findings
    judgement = judge_document(document, today="2026-01-01")
    assert judgement.result is not None, judgement.findings
    # 14 GB of weights and 16 x 8192 x 131,072 bytes = 17.18 GB of cache at 1 TB/s: 31.18 ms before any overhead.
    step = judgement.result.shipped.latency.decode_step_s
    assert step is not None
    assert step > 14e-3 + 16.5e-3


DISPATCH = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: dispatch}
model: {ref: Qwen/Qwen3-30B-A3B, weights: bf16}
hardware: {accelerator: ACCELERATOR, count: 2}
engine: {name: vllm, version: "0.19", data_parallel_size: 2, expert_parallel_size: 2, max_model_len: 8192}
workload: {load: {concurrency: 16}, classes: [{name: all, prompt_tokens: 512, output_tokens: 512}]}
"""


@pytest.mark.parametrize("accelerator", ["rtx-pro-6000-server", "rtx-4090", "h100-sxm"])
def test_tokens_reach_the_experts_of_other_ranks_over_any_link(accelerator: str) -> None:
    """48 layers of experts gather and sum the tokens of two ranks: 2 x 2048 values of 2 bytes a token each time."""
    document, findings = source.parse(DISPATCH.replace("ACCELERATOR", accelerator))
    assert document is not None, findings
    plan, problems = bind.plan(document)
    assert plan is not None, problems
    (shared,) = step_cost_of(shipped(plan)).collectives
    assert (shared.count, shared.bytes_per_token) == (48.0, 2 * 2048 * 2)
    assert shared.table is not None


def test_cards_whose_listed_peak_is_half_of_the_chips_come_close_to_it() -> None:
    """Products of a layer on an RTX 4090 run at 0.966 of 165.2 TFLOP/s (casys-kaist/LLMServingSim@5daddb2)."""
    text = DISPATCH.replace("ACCELERATOR", "rtx-4090").replace("Qwen/Qwen3-30B-A3B", "meta-llama/Llama-3.1-8B-Instruct")
    document, _ = source.parse(text)
    assert document is not None
    plan, problems = bind.plan(document)
    assert plan is not None, problems
    cost = step_cost_of(shipped(plan))
    multiplied = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    assert cost.linear_arithmetic_s == pytest.approx(2 * multiplied / (165.2e12 * 0.966), rel=1e-3)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_declared_share_of_bandwidth_holds_for_all_that_is_read(share: float) -> None:
    """48 layers with 128 experts of 3 x 2048 x 768 values; a cached token of 48 x 2 x 4 x 128 values of 2 bytes."""
    text = DISPATCH.replace("ACCELERATOR, count: 2", f"h100-sxm, derate: {{bandwidth: {share}, compute: 0.6}}")
    document, _ = source.parse(text.replace("data_parallel_size: 2, expert_parallel_size: 2, ", ""))
    assert document is not None
    plan, problems = bind.plan(document)
    assert plan is not None, problems
    cost = step_cost_of(shipped(plan))
    (experts,), (attention,) = cost.experts, cost.attention
    assert experts.read_s == pytest.approx(48 * 128 * 3 * 2048 * 768 * 2 / (3.35e12 * share), rel=0.01)
    assert attention.read_s == pytest.approx(48 * 2 * 4 * 128 * 2 / (3.35e12 * share), rel=1e-6)
