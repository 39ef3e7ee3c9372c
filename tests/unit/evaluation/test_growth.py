"""When a growing load is more than the deployment holds: months from the declared day, never from today."""

from __future__ import annotations

import math
from typing import Any

import pytest

from planner.api import check_text
from planner.domain.evaluation import RunsOut
from planner.evaluation.growth import month_after

# 16 sequences of 8,192 tokens: a step reads 14 GB and 1.0737 GB for each at 1 TB/s.
CLOSED = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: grows}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  replicas: REPLICAS
engine: {name: ideal}
workload:
  load: LOAD
  classes: [CLASS]
  growth: {rate: GROWTH % / month, from: 2026-11-01}
objectives: {OBJECTIVES}
"""
HELD = "{name: all, context_tokens: 8192}"
ASKED = "{name: all, prompt_tokens: 1000, output_tokens: 1}"


def found(
    load: str, objectives: str, klass: str = HELD, growth: str = "8", replicas: str = "1", one_seat: bool = False
) -> RunsOut:
    text = CLOSED.replace("ideal}", "ideal, max_num_seqs: 1}") if one_seat else CLOSED
    for key, value in (
        ("LOAD", load), ("CLASS", klass), ("GROWTH", growth), ("OBJECTIVES", objectives), ("REPLICAS", replicas),
    ):  # fmt: skip
        text = text.replace(key, value)
    result: Any = check_text(text).result
    assert result is not None and result.runs_out is not None
    out: RunsOut = result.runs_out
    return out


@pytest.mark.parametrize(
    ("since", "months", "month"),
    [
        ("2026-11-01", 0.0, "2026-11"),
        ("2026-11-01", 0.99, "2026-11"),
        ("2026-11-01", 6.0, "2027-05"),
        ("2026-11-15", 5.6, "2027-05"),  # 15 April and 18 days
        ("2026-01-31", 1.0, "2026-02"),  # there is no 31 February
        ("2026-12-31", 0.1, "2027-01"),
        ("9999-11-01", 14.0, "10001-01"),
    ],
)
def test_months_after_a_day(since: str, months: float, month: str) -> None:
    assert month_after(since, months) == month


def test_a_closed_loop_by_hand() -> None:
    """40 ms at most: (40 - 14) / 1.0737 = 24.21 sequences, 1.513 times 16: ln 1.513 / ln 1.08 = 5.4 months."""
    out = found("{concurrency: 16}", "inter_token_latency: {mean: 40 ms}")
    assert out.factor == pytest.approx(26 / 1.073741824 / 16, rel=0.002)
    assert (out.month, out.reason) == ("2027-04", "inter_token_latency.mean")


def test_memory_by_hand() -> None:
    """80 - 14 = 66 GB hold 61.47 sequences: 3.84 times 16: ln 3.84 / ln 1.08 = 17.5 months."""
    out = found("{concurrency: 16}", "inter_token_latency: {mean: 10 s}")
    assert out.factor == pytest.approx(66 / 1.073741824 / 16, rel=0.002)
    assert (out.month, out.reason) == ("2028-04", "memory")


def test_one_replica_lost_counts() -> None:
    """Two replicas hold twice as much, but not with one of them down: half of 48.4 sequences, below 2 x 16 already."""
    whole = found("{concurrency: 16}", "inter_token_latency: {mean: 40 ms}", replicas="2")
    lost = found("{concurrency: 16}", "inter_token_latency: {mean: 40 ms}, replicas_down: 1", replicas="2")
    assert whole.factor == pytest.approx(2 * 26 / 1.073741824 / 16, rel=0.002)
    assert lost.factor == pytest.approx(26 / 1.073741824 / 16, rel=0.002)
    assert lost.reason == "inter_token_latency.mean with 1 down"


def test_arrivals_run_out_where_their_queue_is_too_long() -> None:
    """One prompt at a time takes 0.35 s. M/D/1 at 0.77 of 2.857 a second waits 0.35 x 0.77 / (2 x 0.23) = 0.586 s on
    average: 0.936 s to the first token. From 1 a second to 2.2: ln 2.2 / ln 1.08 = 10.2 months.

    Source: Pollaczek 1930, Khinchine 1932.
    """
    out = found("{rate: 1 request/s}", "time_to_first_token: {mean: 936 ms}", ASKED, one_seat=True)
    assert out.factor == pytest.approx(2.2, rel=0.05)
    assert out.month in ("2027-08", "2027-09") and out.reason == "time_to_first_token.mean"


def test_loads_that_do_not_run_out() -> None:
    loose = "inter_token_latency: {mean: 10 s}"
    assert found("{concurrency: 16}", loose, growth="0").reason == "the load does not grow"
    assert found("{concurrency: 16}", loose, growth="0.1") == RunsOut(None, "holds for ten years", 1.001**120)
    assert found("{offline: true}", loose, ASKED).reason == "a load without end does not grow"


def test_what_does_not_hold_today_has_no_month() -> None:
    out = found("{concurrency: 16}", "inter_token_latency: {mean: 20 ms}")
    assert (out.month, out.reason) == (None, "does not hold at the declared load: inter_token_latency.mean")


def test_any_growth_is_bounded() -> None:
    """A million times in a month: what is looked for ends there."""
    out = found("{concurrency: 16}", "inter_token_latency: {mean: 40 ms}", growth="100000000")
    assert out.month == "2026-11" and out.factor == pytest.approx(26 / 1.073741824 / 16, rel=0.01)
    assert math.isfinite(out.factor or math.inf)


def test_scaling_carries_growth_up_to_its_maximum() -> None:
    """Four replicas serve 11.4 a second; each queue gets every fourth arrival, more evenly spaced than arrivals are."""
    limit = "time_to_first_token: {mean: 936 ms}"
    one = found("{rate: 1 request/s}", limit, ASKED, one_seat=True)
    four = found("{rate: 1 request/s}", limit, ASKED, replicas="{min: 1, max: 4}", one_seat=True)
    assert one.factor is not None and four.factor is not None
    assert 4.0 * one.factor < four.factor < 4.0 / 0.35
