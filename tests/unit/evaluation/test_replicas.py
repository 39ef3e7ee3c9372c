"""Several replicas, from spec to figures: routing, replicas lost, replaced, and added while the load rises."""

from __future__ import annotations

from typing import Any

import pytest

from planner.api import check_text
from planner.pipeline import Judgement

# A prompt takes 2 x 7e9 x 1000 / 40e12 = 0.35 s, and the second token a step that many share: a replica serves 2.85 a
# second.
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: fleet}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  price: 1 USD/hour
  replicas: REPLICAS
engine: {name: ideal}
workload:
  load: LOAD
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 2}]
objectives: {time_to_first_token: {p95: 3 s}MORE}
"""


def judged(replicas: str, load: str, more: str = "", **swap: str) -> Judgement:
    text = SPEC.replace("REPLICAS", replicas).replace("LOAD", load).replace("MORE", more)
    for old, new in swap.items():
        text = text.replace(old, new)
    found = check_text(text)
    assert found.result is not None, [item.message for item in found.findings]
    return found


def result(found: Judgement) -> Any:
    return found.result


def ids(found: Judgement) -> set[str]:
    return {item.id for item in found.findings}


def test_one_of_two_cannot_carry_what_two_do() -> None:
    """4 a second: 2 each of 2.85 hold; alone 4 of 2.85 do not: the queue grows, and the objective is missed."""
    found = judged("2", "{rate: 4 request/s}", ", replicas_down: 1")
    assert {item.outcome for item in result(found).shipped.objectives} == {"met"}
    (down,) = result(found).disturbed
    assert (down.what, down.serving, down.of) == ("replicas-down", 1, 2)
    assert [item.outcome for item in down.objectives] == ["missed"]
    assert found.verdict == "infeasible" and "replicas-down" in ids(found)


def test_one_of_two_carries_less() -> None:
    found = judged("2", "{rate: 1 request/s}", ", replicas_down: 1")
    (down,) = result(found).disturbed
    assert [item.outcome for item in down.objectives] == ["met"] and "replicas-down" not in ids(found)
    # What fails is in the run: more wait than with two.
    both = result(found).shipped.latency.time_to_first_token_s
    assert down.latency.time_to_first_token_s.mean > both.mean


def test_when_all_are_lost_nothing_is_left() -> None:
    found = judged("1", "{rate: 1 request/s}", ", replicas_down: 1")
    (down,) = result(found).disturbed
    assert down.serving == 0 and [item.outcome for item in down.objectives] == ["missed"]
    message = next(item.message for item in found.findings if item.id == "replicas-down")
    assert "nothing is left to serve it" in message


def test_cost_does_not_count_where_replicas_are_lost() -> None:
    found = judged("2", "{rate: 1 request/s}", ", replicas_down: 1, cost: {max: 1 USD/hour}")
    assert {item.objective for item in result(found).disturbed[0].objectives} == {"time_to_first_token.p95"}


def test_scaling_settles_at_what_the_load_needs() -> None:
    """Seven tenths of 2.85 is 2.0 a second each: 1 needs one replica, 5 need three, 11 six."""
    for rate, replicas in ((1, 1), (5, 3), (11, 6)):
        found = judged("{min: 1, max: 8, start_time: 60 s}", f"{{rate: {rate} request/s}}")
        assert result(found).detail.running.hardware.replicas.minimum == replicas
        assert result(found).shipped.cost.usd_per_hour == replicas
    # Capacity is that of all eight.
    most = result(found).shipped.throughput.max_requests_per_s
    assert most == pytest.approx(8 * 2.85, rel=0.01)


def test_scaling_by_requests_in_a_replica() -> None:
    """Closed loop of 40, ten wanted in each: four."""
    found = judged("{min: 1, max: 8, start_time: 60 s, target_requests: 10}", "{concurrency: 40}")
    assert result(found).detail.running.hardware.replicas.minimum == 4


def test_more_than_all_can_serve_is_too_much() -> None:
    found = judged("{min: 1, max: 2, start_time: 60 s}", "{rate: 6 request/s}")
    overload = next(item for item in found.findings if item.id == "load-exceeds-capacity")
    assert overload.values["max_requests_per_s"] == pytest.approx(2 * 2.85, rel=0.01)


def test_a_peak_that_comes_at_once_outruns_the_start() -> None:
    """From 1 to 4 a second in no time: 4 - 2.85 wait more each second for 60 + 15 s: 86 in line, 30 s of prompts."""
    found = judged("{min: 1, max: 4, start_time: 60 s}", "{rate: 1 request/s, peak: 4}")
    (rise,) = result(found).disturbed
    assert (rise.what, rise.serving, rise.of, rise.lasts_s) == ("rise-to-peak", 1, 3, 75.0)
    assert 25.0 < rise.latency.time_to_first_token_s.max < 45.0
    assert rise.recovers_s > 75.0
    assert found.verdict == "at-risk"
    # When it has settled, the objective holds at the peak.
    assert {item.outcome for item in result(found).shipped.objectives} == {"met"}
    # Two dollars fewer than at the peak: cost is at the mean rate.
    assert result(found).shipped.cost.usd_per_hour == 1.0


def test_a_slow_rise_or_enough_replicas_do_not() -> None:
    slow = judged("{min: 1, max: 4, start_time: 60 s}", "{rate: 1 request/s, peak: 4, ramp: 60 minute}")
    assert [item.outcome for item in result(slow).disturbed[0].objectives] == ["met"]
    assert result(slow).disturbed[0].recovers_s == 0.0
    assert result(judged("{min: 3, max: 4, start_time: 60 s}", "{rate: 1 request/s, peak: 4}")).disturbed == ()


PODS = "  kubernetes: {max_surge: 0, max_unavailable: 1, shared_memory: 10 GiB}\nengine:"


def test_an_update_takes_a_replica_away() -> None:
    """3 a second: two serve 5.7, one 2.85. For 60 s and a little 0.15 more wait each second: 9 in line, 3 s."""
    found = judged("{min: 2, max: 2, start_time: 60 s}", "{rate: 3 request/s}", **{"engine:": PODS})
    (update,) = result(found).disturbed
    assert (update.what, update.serving, update.of) == ("rolling-update", 1, 2)
    # Two replicas, one after another: a drain of a second or two and 60 s each.
    assert 120.0 < update.lasts_s < 135.0
    assert 3.0 < update.latency.time_to_first_token_s.max < 20.0
    quiet = judged("{min: 2, max: 2, start_time: 60 s}", "{rate: 1 request/s}", **{"engine:": PODS})
    assert [item.outcome for item in result(quiet).disturbed[0].objectives] == ["met"]


def test_an_update_that_starts_first_takes_none_away() -> None:
    surge = PODS.replace("max_surge: 0, max_unavailable: 1", "max_surge: 1, max_unavailable: 0, accelerators: 4")
    found = judged("{min: 2, max: 2, start_time: 60 s}", "{rate: 3 request/s}", **{"engine:": surge})
    assert result(found).disturbed == ()


REAL = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: agents}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, replicas: 4}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384, routing: ROUTING}
workload:
  load: {sessions: 40}
  classes:
    - name: agent
      prompt_tokens: 3000
      output_tokens: 100
      session: {turns: 8, turn_delay: 2 s, context_growth: 1200}
"""


def test_routing_decides_what_a_session_finds() -> None:
    """Turns find their context where the last turn left it; in turn over four replicas they mostly do not."""
    rates, first = {}, {}
    for routing in ("round-robin", "least-loaded", "prefix-aware"):
        found = check_text(REAL.replace("ROUTING", routing)).result
        assert found is not None
        rates[routing] = found.detail.served.simulated.outcome.hit_rate
        first[routing] = found.shipped.latency.time_to_first_token_s.mean
    # All but what a turn adds: known (prompt before + 99) of 3000, 4200, ... 11400 tokens.
    known = sum(3000 + 1200 * turn + 99 for turn in range(7)) / sum(3000 + 1200 * turn for turn in range(8))
    assert rates["prefix-aware"] == pytest.approx(known, abs=0.02)
    assert rates["round-robin"] < 0.75 * known
    assert first["prefix-aware"] < 0.7 * first["round-robin"]


def test_data_parallel_ranks_fail_with_their_replica() -> None:
    text = REAL.replace("routing: ROUTING", "data_parallel_size: 2").replace("replicas: 4", "count: 2, replicas: 2")
    text = text.replace("{sessions: 40}", "{rate: 10 request/s}").replace("turns: 8", "turns: 1")
    found = check_text(text + "objectives: {time_to_first_token: {p95: 2 s}, replicas_down: 1}\n").result
    assert found is not None
    assert (found.disturbed[0].serving, found.disturbed[0].of) == (1, 2)
    assert found.disturbed[0].latency.time_to_first_token_s.mean > found.shipped.latency.time_to_first_token_s.mean
