"""What each lever does to the figures: one case where it moves the binding term, one where it moves nothing.

The plan is the textbook's: 7e9 parameters in 16 bits are 14 GB, a cached token is 131,072 bytes, the card reads 1 TB/s
and computes 40 TFLOP/s. 16 sequences of 8,192 tokens read 14 + 16 x 8192 x 131,072 = 14 + 17.180 GB = 31.180 ms, and
compute 16 x 14 GFLOP / 40 TFLOP/s = 5.6 ms: bandwidth binds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.domain.evaluation import Evaluation
from planner.domain.plan import Plan
from planner.domain.workload import Prefix, RequestClass
from planner.evaluation import detail, evaluate
from planner.evaluation.configure import configure
from planner.evaluation.ladder import effect_of
from planner.evaluation.operating import steady

BASE_MS = 31.179869  # 14 + 17.179869184


def after(plan: Plan, *uses: Any) -> Evaluation:
    return evaluate(configure(plan, uses))


def step_ms(evaluation: Evaluation) -> float:
    assert evaluation.latency.decode_step_s is not None
    return evaluation.latency.decode_step_s * 1e3


def gap_ms(evaluation: Evaluation) -> float:
    assert evaluation.latency.inter_token_latency_s.mean is not None
    return evaluation.latency.inter_token_latency_s.mean * 1e3


def idle(plan: Plan, *uses: Any) -> None:
    """The last of `uses` moves no figure."""
    assert effect_of(after(plan, *uses[:-1]), after(plan, *uses)) == {}


def chat(worked: Any, prompt: float, output: float, longest: float | None = None, **changes: Any) -> RequestClass:
    return RequestClass("chat", prompt=worked.length(prompt), output=worked.length(output, longest), **changes)


def test_the_baseline(worked: Any) -> None:
    found = after(worked.plan())
    assert found.latency.decode is not None
    assert found.latency.decode.bound == "bandwidth"
    assert step_ms(found) == pytest.approx(BASE_MS, rel=1e-6)


class TestQuantizeWeights:
    def test_halves_what_weights_read(self, worked: Any, use: Any) -> None:
        found = after(worked.plan(), use("quantize-weights", format="int8"))
        assert found.memory.weights_bytes == 7e9
        assert step_ms(found) == pytest.approx(7 + 17.179869, rel=1e-6)

    def test_nothing_to_gain_where_they_are_stored_so(self, worked: Any, use: Any) -> None:
        idle(worked.plan(), use("quantize-weights", format="int8"), use("quantize-weights", format="int8"))

    def test_no_faster_where_arithmetic_binds(self, worked: Any, use: Any) -> None:
        # 256 sequences of one token compute 256 x 14 GFLOP = 89.6 ms against 14 ms of weights: the card has no
        # arithmetic in 8 bits, so the products stay in 16.
        plan = worked.plan(classes=(RequestClass("all", context_tokens=1),), concurrency=256)
        before, quantised = after(plan), after(plan, use("quantize-weights", format="int8"))
        assert step_ms(quantised) == step_ms(before) == pytest.approx(89.6, rel=1e-3)


class TestQuantizeKvCache:
    def test_halves_what_the_cache_reads(self, worked: Any, use: Any) -> None:
        found = after(worked.plan(), use("quantize-kv-cache", format="int8"))
        assert found.memory.kv_cache_bytes == pytest.approx(8.589934592e9)
        assert step_ms(found) == pytest.approx(14 + 8.589935, rel=1e-6)

    def test_nothing_in_a_model_without_cache(self, worked: Any, use: Any) -> None:
        idle(worked.plan(model=worked.recurrent()), use("quantize-kv-cache", format="int8"))


class TestSlidingWindow:
    def test_bounds_what_the_cache_reads_and_holds(self, worked: Any, use: Any) -> None:
        found = after(worked.plan(), use("sliding-window-attention", window=4096))
        assert found.memory.kv_cache_bytes == pytest.approx(8.589934592e9)
        assert step_ms(found) == pytest.approx(14 + 8.589935, rel=1e-6)

    def test_half_of_the_layers(self, worked: Any, use: Any) -> None:
        # 17.179869 x (1/2 + 1/2 x 1/2) = 12.884902
        found = after(worked.plan(), use("sliding-window-attention", window=4096, layers={"every": 2}))
        assert step_ms(found) == pytest.approx(14 + 12.884902, rel=1e-6)

    def test_nothing_behind_a_window_as_long_as_the_context(self, worked: Any, use: Any) -> None:
        idle(worked.plan(), use("sliding-window-attention", window=8192))


class TestSparseAttention:
    def test_reads_less_and_holds_all(self, worked: Any, use: Any) -> None:
        # A quarter of 17.179869 is read.
        found = after(worked.plan(), use("sparse-attention", selected_tokens=2048))
        assert found.memory.kv_cache_bytes == pytest.approx(17.179869184e9)
        assert step_ms(found) == pytest.approx(14 + 4.294967, rel=1e-6)

    def test_nothing_where_all_is_selected(self, worked: Any, use: Any) -> None:
        idle(worked.plan(), use("sparse-attention", selected_tokens=8192))


class TestSpeculativeDecoding:
    def ngram(self, use: Any, **acceptance: Any) -> Any:
        return use("speculative-decoding", method="ngram", num_speculative_tokens=4, **acceptance)

    def test_more_tokens_for_one_read(self, worked: Any, use: Any) -> None:
        # One sequence: 14 + 1.073742 = 15.073742 ms, verified or not: 5 x 14 GFLOP are 1.75 ms. E = 1.9375.
        found = after(worked.plan(concurrency=1), self.ngram(use, acceptance_probability=0.5))
        assert gap_ms(found) == pytest.approx(15.073742 / 1.9375, rel=1e-6)

    def test_the_drafts_time_counts(self, worked: Any, use: Any) -> None:
        # Four passes of 0.7e9 x 2 bytes: 4 x 1.4 ms. (15.073742 + 5.6) / 1.9375
        draft = use(
            "speculative-decoding", method="draft_model", draft={"ref": "small"}, num_speculative_tokens=4,
            acceptance_probability=0.5,
        )  # fmt: skip
        found = after(worked.plan(concurrency=1), draft)
        assert gap_ms(found) == pytest.approx(20.673742 / 1.9375, rel=1e-6)
        assert found.memory.weights_bytes == pytest.approx(14e9 + 1.4e9)

    def test_nothing_where_nothing_is_accepted(self, worked: Any, use: Any) -> None:
        # E = 1, and verifying four n-grams of one sequence hides behind the reads.
        before = after(worked.plan(concurrency=1))
        assert gap_ms(after(worked.plan(concurrency=1), self.ngram(use, acceptance_length=1))) == gap_ms(before)

    def test_loses_where_arithmetic_binds(self, worked: Any, use: Any) -> None:
        # 128 sequences of one token: 128 x 14 GFLOP = 44.8 ms; five times that for 1.9375 tokens.
        plan = worked.plan(classes=(RequestClass("all", context_tokens=1),), concurrency=128)
        before, found = after(plan), after(plan, self.ngram(use, acceptance_probability=0.5))
        assert gap_ms(found) / gap_ms(before) == pytest.approx(5 / 1.9375, rel=1e-6)


class TestLossyAcceptance:
    def test_still_more_tokens_for_one_read(self, worked: Any, use: Any) -> None:
        exact = use("speculative-decoding", method="ngram", num_speculative_tokens=4, acceptance_length=2)
        found = after(worked.plan(concurrency=1), exact, use("lossy-acceptance", acceptance_length=3))
        assert gap_ms(found) == pytest.approx(15.073742 / 3, rel=1e-6)

    def test_nothing_without_speculation(self, worked: Any, use: Any) -> None:
        idle(worked.plan(), use("lossy-acceptance", acceptance_length=3))


class TestPrefixCaching:
    def test_skips_the_arithmetic_of_the_prefix(self, worked: Any, use: Any) -> None:
        # Linear layers: 14 GFLOP a token, 0.35 ms. Attention: 2 x 32 heads x 256 x 32 layers = 524,288 FLOP a pair.
        # 1,000 tokens see 500 on average: 350 + 6.5536 ms. 200 after 800 see 900: 70 + 2.359296 ms.
        plan = worked.plan(classes=(chat(worked, 1000, 100, prefix=Prefix(shared_tokens=800)),), concurrency=1)
        assert after(plan).latency.prefill_s == pytest.approx(0.3565536, rel=1e-9)
        found = after(plan, use("prefix-caching"))
        assert found.latency.prefill_s == pytest.approx(0.072359296, rel=1e-9)
        assert found.latency.decode_step_s == after(plan).latency.decode_step_s

    def test_nothing_without_a_prefix(self, worked: Any, use: Any) -> None:
        idle(worked.plan(classes=(chat(worked, 1000, 100),)), use("prefix-caching"))


class TestExactAttentionKernel:
    def test_scores_are_not_stored(self, worked: Any, use: Any) -> None:
        # Memory: 32 heads x 4,096^2 x 2 bytes = 1.073742 GB. Traffic: four times that in each of 32
        # layers, 137.438953 GB, at 0.72 of 1 TB/s (default.yaml, memory that is neither HBM nor GDDR): 190.887435 ms.
        plan = worked.plan(classes=(chat(worked, 4096, 100),), engine="vllm", max_num_batched_tokens=8192)
        before, found = after(plan), after(plan, use("exact-attention-kernel"))
        assert before.memory.activation_bytes - found.memory.activation_bytes == pytest.approx(1.073741824e9)
        assert before.latency.prefill_s is not None
        assert found.latency.prefill_s is not None
        saved = before.latency.prefill_s - found.latency.prefill_s
        assert saved == pytest.approx(0.137438953 / 0.72, rel=1e-6)

    def test_nothing_without_a_prompt(self, worked: Any, use: Any) -> None:
        idle(worked.plan(engine="vllm"), use("exact-attention-kernel"))


class TestContinuousBatching:
    def test_seats_do_not_wait_for_the_longest_answer(self, worked: Any, use: Any) -> None:
        # Answers of 100 tokens on average, 200 at most: a batch that waits for its longest is half empty, so the 99
        # steps of a request, shared by those in the batch, cost twice; prefills cost the same.
        plan = worked.plan(classes=(chat(worked, 1000, 100, 200),), engine="vllm")
        waits, joins = (detail(configure(plan, uses)).served for uses in ((), (use("continuous-batching"),)))
        assert joins.service.step.cost is not None
        found = steady(joins.service, joins.service.step.cost, 8.0, 8.0)
        steps = 99 * found.decode_s / 8
        assert waits.service.request_s(8.0) == pytest.approx(joins.service.request_s(8.0) + steps, rel=1e-9)

    def test_nothing_where_every_answer_is_equally_long(self, worked: Any, use: Any) -> None:
        idle(worked.plan(classes=(chat(worked, 1000, 100),), engine="vllm"), use("continuous-batching"))


class TestCudaGraphs:
    def test_launching_costs_less(self, worked: Any, use: Any) -> None:
        # Without a graph the host launches 10 kernels in each of 32 layers at 82.7 us (vllm.yaml): 26.464 ms beside
        # the device's time d, together (d^4 + 26.464^4)^(1/4). Scheduler and sampler, 0.32 + 0.0265 ms, come on top.
        plan = worked.plan(engine="vllm", concurrency=1)
        before, found = step_ms(after(plan)), step_ms(after(plan, use("cuda-graphs")))
        host = 0.32 + 0.0265
        device = found - host
        assert before == pytest.approx((device**4 + 26.464**4) ** 0.25 + host, rel=1e-9)

    def test_nothing_on_the_ideal_engine(self, worked: Any, use: Any) -> None:
        idle(worked.plan(), use("cuda-graphs"))


class TestChunkedPrefill:
    def test_the_longest_gap_is_that_of_one_chunk(self, worked: Any, use: Any) -> None:
        plan = worked.plan(classes=(chat(worked, 8000, 100),), engine="vllm", max_num_batched_tokens=2000)
        whole, cut = after(plan), after(plan, use("chunked-prefill"))
        assert whole.latency.inter_token_latency_s.max is not None
        assert cut.latency.inter_token_latency_s.max is not None
        # The linear layers of the whole prompt alone are 8000 x 0.35 ms = 2.8 s, of a chunk 0.7 s.
        assert whole.latency.inter_token_latency_s.max > 2.8
        assert 0.7 < cut.latency.inter_token_latency_s.max < whole.latency.inter_token_latency_s.max

    def test_nothing_for_prompts_within_the_budget(self, worked: Any, use: Any) -> None:
        plan = worked.plan(classes=(chat(worked, 1000, 100),), engine="vllm", max_num_batched_tokens=2048)
        idle(plan, use("chunked-prefill"))


@pytest.mark.parametrize("name", ["kv-offload", "disaggregated-prefill", "admission-policy"])
def test_pending_levers_move_no_figure(worked: Any, use: Any, name: str) -> None:
    parameters: dict[str, dict[str, Any]] = {
        "disaggregated-prefill": {"prefill": {"hardware": {"count": 1}}, "decode": {"hardware": {"count": 1}}},
        "admission-policy": {"max_queued_requests": 8},
    }
    plan = worked.plan(classes=(chat(worked, 1000, 100),), engine="vllm")
    idle(plan, use(name, **parameters.get(name, {})))


def test_levers_on_the_same_term_add_up(worked: Any, use: Any) -> None:
    # 7 + 17.179869 / 2 / 2 = 11.294967: weights in 8 bits, cache in 8 bits, half the window.
    uses = (
        use("quantize-weights", format="int8"),
        use("quantize-kv-cache", format="int8"),
        use("sliding-window-attention", window=4096),
    )
    assert step_ms(after(worked.plan(), *uses)) == pytest.approx(7 + 4.294967, rel=1e-6)
    assert step_ms(after(worked.plan(), *reversed(uses))) == pytest.approx(7 + 4.294967, rel=1e-6)


def test_a_rejected_lever_equals_its_absence(worked: Any, use: Any) -> None:
    from planner.evaluation import run

    plan = worked.plan()
    int8 = use("quantize-weights", format="int8")
    without, rejected = run(plan), run(replace(plan, levers=(replace(int8, status="reject"),)))
    assert rejected.shipped == without.shipped
    assert rejected.baseline == without.baseline
