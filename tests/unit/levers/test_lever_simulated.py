"""Levers that only the simulation sees: one case where each moves what binds, one where it moves nothing.

The engine is the textbook's: a prompt of 1,000 tokens takes 2 x 7e9 x 1000 / 40e12 = 0.35 s. Where the cache has
blocks it is vLLM's, with as many as the test says.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.api import check_text

HEAD = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: levers}
"""
TEXTBOOK = (
    HEAD
    + """\
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
"""
)
REAL = (
    HEAD
    + """\
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
"""
)


def step(text: str, lever: str) -> Any:
    """The step of one lever of the stack."""
    judgement = check_text(text)
    assert judgement.result is not None, [item.message for item in judgement.findings]
    return next(item for item in judgement.result.steps if item.lever.use == lever)


class TestAdmissionPolicy:
    CACHE = (
        REAL
        + """\
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11.0", max_model_len: 1024, num_gpu_blocks_override: 100, max_num_seqs: SEATS}
workload:
  load: {offline: true, requests: 400}
  classes: [{name: all, prompt_tokens: 100, output_tokens: {p50: 60, p95: 150, max: 700}}]
levers: [{use: admission-policy, policy: reserve-maximum}]
"""
    )
    QUEUE = (
        TEXTBOOK
        + """\
engine: {name: ideal, max_num_seqs: 1}
workload:
  load: {rate: RATE request/s, process: constant}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 1}]
levers: [{use: admission-policy, max_queued_requests: 1, status: consider}]
"""
    )

    def test_reserving_the_maximum_takes_seats(self) -> None:
        """100 blocks of 16 are 1,600 tokens: two requests of up to 100 + 700, or a dozen of 100 + 65 or so."""
        found = step(self.CACHE.replace("SEATS", "256"), "admission-policy")
        before, after = found.compared
        # As many in the batch as were given seats, and no more tokens a step than seats.
        assert after.throughput.output_tokens_per_s == pytest.approx(
            2.0 / after.latency.inter_token_latency_s.mean, rel=0.1
        )
        assert before.throughput.output_tokens_per_s > 4.0 * after.throughput.output_tokens_per_s
        assert found.effect["output_tokens_per_s"] < -0.7

    def test_nothing_where_seats_bind(self) -> None:
        """Two seats: two requests of 800 tokens fit either way."""
        assert step(self.CACHE.replace("SEATS", "2"), "admission-policy").effect == {}

    def test_a_queue_of_one_turns_half_away_at_twice_the_capacity(self) -> None:
        """One prompt takes 0.35 s and one comes every 0.175 s: one runs, one waits, every other is turned away.

        Without the limit the queue grows and no latency exists. With it one waits for 0.35 s at most.
        """
        found = step(self.QUEUE.replace("RATE", str(2 / 0.35)), "admission-policy")
        before, after = found.compared
        assert before.latency.time_to_first_token_s.mean is None
        assert after.throughput.rejected_fraction == pytest.approx(0.5, abs=0.01)
        assert 0.35 < after.latency.time_to_first_token_s.max <= 0.70 + 1e-9

    def test_nothing_where_nobody_waits(self) -> None:
        """One comes every 10 s."""
        assert step(self.QUEUE.replace("RATE", "0.1"), "admission-policy").effect == {}


class TestKvOffload:
    """A cached token of the 8B model is 2 x 8 x 128 x 2 bytes x 32 layers = 131,072 bytes: 2.6 us over 50 GB/s.

    Computing it takes 2 x 8e9 / (what an H100 achieves of 989e12), 25 us or so.
    """

    SESSIONS = (
        REAL
        + """\
hardware: {accelerator: h100-sxm, host: {memory: HOST, link: LINK}}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384, num_gpu_blocks_override: BLOCKS}
workload:
  load: {sessions: 8}
  classes:
    - name: agent
      prompt_tokens: 3000
      output_tokens: 50
      session: {turns: 6, turn_delay: 2 s, context_growth: 1000}
levers: [{use: kv-offload}]
"""
    )

    def spec(self, blocks: int, host: str = "64 GB", link: str = "50 GB/s") -> str:
        return self.SESSIONS.replace("BLOCKS", str(blocks)).replace("HOST", host).replace("LINK", link)

    def test_sessions_that_outgrow_the_cache_are_fetched(self) -> None:
        """1,200 blocks are 19,200 tokens; eight contexts of 3,000 to 8,000 are 44,000: 5.8 GB, which the host holds."""
        found = step(self.spec(1200), "kv-offload")
        assert found.effect["time_to_first_token_s"] < -0.5
        assert found.compared[1].latency.session_latency_s.mean < found.compared[0].latency.session_latency_s.mean

    def test_nothing_where_the_accelerator_holds_them(self) -> None:
        """12,000 blocks are 192,000 tokens."""
        assert step(self.spec(12_000), "kv-offload").effect == {}

    def test_a_host_that_is_too_small_helps_less(self) -> None:
        """1 GB are 7,600 tokens: one context of eight."""
        small, large = (step(self.spec(1200, host), "kv-offload").effect for host in ("1 GB", "64 GB"))
        assert small.get("time_to_first_token_s", 0.0) > large["time_to_first_token_s"] + 0.3

    def test_a_slow_link_adds_latency(self) -> None:
        """1 GB/s: 131 us a token, five times what computing it takes."""
        assert step(self.spec(1200, link="1 GB/s"), "kv-offload").effect["time_to_first_token_s"] > 0.5


class TestDisaggregatedPrefill:
    """A prompt takes 0.35 s, a step of one sequence 14 GB / 1 TB/s = 14 ms and its cache: 100 tokens take 1.4 s."""

    SPLIT = (
        TEXTBOOK
        + """\
  replicas: 2
  interconnect: {domain: 1, scale_out: LINK}
engine: {name: ideal}
workload:
  load: {rate: RATE request/s, process: constant}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 100}]
levers:
  - use: disaggregated-prefill
    prefill: {hardware: {replicas: 1}}
    decode: {hardware: {replicas: 1}}
"""
    )

    def spec(self, rate: float, link: str = "1 GB/s") -> str:
        return self.SPLIT.replace("RATE", str(rate)).replace("LINK", link)

    def test_prompts_no_longer_fall_between_tokens(self) -> None:
        """Two a second: on each of two replicas a prompt of 0.35 s comes each second, between tokens of the last.

        Apart: the prompt, 999 tokens x 131,072 bytes over 1 GB/s, and a step: 0.35 + 0.131 + 0.0145 s; fetching and
        the step begin when the step before them ends, so up to two steps more.
        """
        found = step(self.spec(2), "disaggregated-prefill")
        together, apart = found.compared
        assert together.latency.inter_token_latency_s.max == pytest.approx(0.36, abs=0.015)
        assert apart.latency.inter_token_latency_s.max < 0.020
        assert 0.4954 <= apart.latency.time_to_first_token_s.p50 <= 0.4954 + 2 * 0.0155
        assert apart.latency.time_to_first_token_s.p50 - together.latency.time_to_first_token_s.p50 > 0.13
        assert set(apart.pools) == {"prefill", "decode"}
        # A copy of the weights in each; the first pool holds prompts alone.
        assert apart.pools["prefill"]["memory"].weights_bytes == apart.pools["decode"]["memory"].weights_bytes == 14e9

    def test_the_first_pool_serves_one_prompt_after_another(self) -> None:
        """One prompt takes 0.35 s, so 2.86 a second at most; two replicas that do both serve about 5."""
        found = step(self.spec(2), "disaggregated-prefill")
        assert found.compared[1].throughput.max_requests_per_s == pytest.approx(1 / 0.35, rel=0.01)
        overloaded = step(self.spec(3), "disaggregated-prefill").compared[1]
        assert overloaded.latency.time_to_first_token_s.mean is None

    def test_no_gain_where_prompts_never_meet_answers(self) -> None:
        """One in 4 s: each is alone. No gap moves by more than the step that each pool makes; only the first token
        waits for the link."""
        found = step(self.spec(0.25), "disaggregated-prefill")
        together, apart = found.compared
        assert apart.latency.inter_token_latency_s.max == pytest.approx(together.latency.inter_token_latency_s.max)
        more = apart.latency.time_to_first_token_s.mean - together.latency.time_to_first_token_s.mean
        assert more == pytest.approx(0.999 * 0.131072 + 0.01413, abs=0.001)

    def test_nothing_where_no_link_is_known(self) -> None:
        text = self.spec(2).replace("  interconnect: {domain: 1, scale_out: 1 GB/s}\n", "")
        assert step(text, "disaggregated-prefill").effect == {}
        judgement = check_text(text)
        message = next(item.message for item in judgement.findings if item.id == "lever-without-effect")
        assert "no link between the pools is known" in message

    def test_a_closed_loop_is_shared_by_both_pools(self) -> None:
        """Eight at all times: as many are inside as there are (Little), in closed form and in the run."""
        text = self.spec(2).replace("{rate: 2 request/s, process: constant}", "{concurrency: 8}")
        judgement = check_text(text)
        assert judgement.result is not None
        shipped = judgement.result.shipped
        inside = shipped.throughput.requests_per_s * shipped.latency.request_latency_s.mean
        assert inside == pytest.approx(8.0, rel=0.02)
        run = judgement.result.steps[-1].compared[1]
        assert run.throughput.requests_per_s == pytest.approx(shipped.throughput.requests_per_s, rel=0.1)

    def test_one_replica_of_either_pool_may_be_lost(self) -> None:
        text = self.spec(2).replace("replicas: 1}}", "replicas: 2}}")
        judgement = check_text(text + "objectives: {time_to_first_token: {p95: 2 s}, replicas_down: 1}\n")
        assert judgement.result is not None
        found = judgement.result.disturbed
        assert [(item.pool, item.serving, item.of) for item in found] == [("prefill", 1, 2), ("decode", 1, 2)]
        assert judgement.result.detail.accelerators == judgement.result.detail.replicas == 4
        assert judgement.result.shipped.cost.usd_per_hour is None

    def test_the_engine_refuses_what_one_pool_asks(self) -> None:
        """The 8B model has 8 key-value heads and 32 heads: 3 ranks do not divide them."""
        text = (
            REAL
            + """\
hardware: {accelerator: h100-sxm, count: 2, interconnect: {scale_out: 400 Gbit/s}}
engine: {name: vllm, version: "0.11.0", max_model_len: 4096, tensor_parallel_size: 2}
workload: {load: {rate: 1 request/s}, classes: [{name: all, prompt_tokens: 1000, output_tokens: 100}]}
levers:
  - use: disaggregated-prefill
    prefill: {hardware: {count: 3}, engine: {tensor_parallel_size: 3}}
    decode: {hardware: {replicas: 1}}
"""
        )
        found = [item for item in check_text(text).findings if item.id == "engine-tensor-parallel"]
        (refused,) = found
        assert refused.message.startswith("prefill pool: ")
        assert refused.path == "/levers/disaggregated-prefill/prefill/engine/tensor_parallel_size"
        assert refused.location is not None and refused.location.line == 10
