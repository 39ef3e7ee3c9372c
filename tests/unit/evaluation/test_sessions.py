"""Sessions: turns that send the context again, what the cache finds of it, and what a session's user waits for."""

from __future__ import annotations

from typing import Any

import pytest

from planner.api import check_text
from planner.evaluation import detail
from planner.evaluation.live_sessions import live_sessions
from planner.evaluation.mix import cached_tokens, mix_of, prompt_tokens, turns_of
from planner.pipeline import Judgement

# Turns of 3,000, 4,000, ... 8,000 tokens; the turn before has left 3,049, 4,049, ... 7,049 of those after the first.
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: agents}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384ENGINE}
workload:
  load: LOAD
  classes:
    - name: agent
      prompt_tokens: 3000
      output_tokens: 50
      session: {turns: 6, turn_delay: 2 s, context_growth: 1000}
objectives: {session_latency: {p95: LIMIT}, time_to_first_token: {p95: 2 s}}
"""


def judged(load: str, engine: str = "", limit: str = "60 s") -> Judgement:
    text = SPEC.replace("LOAD", load).replace("ENGINE", engine).replace("LIMIT", limit)
    found = check_text(text)
    assert found.result is not None, [item.message for item in found.findings]
    return found


def result(found: Judgement) -> Any:
    return found.result


def outcome(found: Judgement, name: str) -> str:
    return next(item.outcome for item in result(found).shipped.objectives if item.objective == name)


def test_the_mean_turn_by_hand() -> None:
    plan = result(judged("{sessions: 4}")).detail.plan
    (item,) = plan.workload.classes
    assert prompt_tokens(item) == (3000 + 4000 + 5000 + 6000 + 7000 + 8000) / 6
    assert cached_tokens(plan, item) == pytest.approx((3049 + 4049 + 5049 + 6049 + 7049) / 6)
    assert turns_of(plan) == 6.0 and mix_of(plan).prompt == 5500.0


def test_a_rate_counts_sessions() -> None:
    """0.2 sessions a second are 1.2 requests a second; each finds all but what its turn adds and the last token."""
    found = judged("{rate: 0.2 request/s}")
    assert result(found).shipped.throughput.requests_per_s == pytest.approx(1.2)
    run = result(found).detail.served.simulated
    assert run.outcome.hit_rate == pytest.approx(25245 / 33000, abs=0.01)
    # The run's own rate: sessions start as Poisson arrivals, so within their noise.
    assert run.outcome.requests_per_s == pytest.approx(1.2, rel=0.15)


def test_too_many_sessions_are_too_much() -> None:
    found = next(item for item in judged("{rate: 50 request/s}").findings if item.id == "load-exceeds-capacity")
    assert "300 requests/s (50.0 sessions/s) are offered" in found.message
    assert found.values["offered_requests_per_s"] == 300.0


def test_live_sessions_take_turns() -> None:
    """Four sessions, each away 2 s after each answer: fewer than 4 / 2 s requests a second, and more than half of it.

    The closed form says the same within a twentieth.
    """
    found = judged("{sessions: 4}")
    rate = result(found).shipped.throughput.requests_per_s
    assert 1.0 < rate < 2.0
    closed = detail(result(found).detail.plan).evaluation
    assert closed.throughput.requests_per_s == pytest.approx(rate, rel=0.05)
    whole = result(found).shipped.latency.session_latency_s
    # Five pauses of 2 s, and six turns.
    assert 10.0 < whole.p50 < 20.0
    assert closed.latency.session_latency_s.mean == pytest.approx(whole.mean, rel=0.1)


def test_the_latency_of_a_session_is_an_objective() -> None:
    assert outcome(judged("{sessions: 4}"), "session_latency.p95") == "met"
    assert outcome(judged("{sessions: 4}", limit="5 s"), "session_latency.p95") == "missed"


SMALL = ", num_gpu_blocks_override: 1200"


def test_sessions_that_outgrow_the_cache_are_computed_again() -> None:
    """1,200 blocks are 19,200 tokens, eight contexts 44,400: each turn finds next to nothing.

    A session then computes up to 25,245 tokens again, six turns of 5,500 less what each adds.
    """
    found = judged("{sessions: 8}", SMALL)
    live = live_sessions(result(found).detail)
    assert live is not None and live.possible == pytest.approx(25245 / 33000)
    assert live.hit_rate < 0.3
    assert live.recomputed_tokens == pytest.approx((live.possible - live.hit_rate) * 33000)
    message = next(item.message for item in found.findings if item.id == "session-working-set")
    assert "76.5 % have come before" in message
    large = judged("{sessions: 8}")
    assert "session-working-set" not in {item.id for item in large.findings}
    slower = result(found).shipped.latency.time_to_first_token_s.mean
    assert slower > 2.0 * result(large).shipped.latency.time_to_first_token_s.mean


def test_a_closed_loop_of_sessions_is_run() -> None:
    """Four at all times, as long as a session goes on: the same load as four live sessions."""
    loop, live = judged("{concurrency: 4}"), judged("{sessions: 4}")
    assert result(loop).detail.served.simulated.outcome.hit_rate > 0.7
    one, other = (result(item).shipped.latency.time_to_first_token_s.mean for item in (loop, live))
    assert one == pytest.approx(other, rel=0.2)
