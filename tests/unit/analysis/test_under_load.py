"""Runs at several rates: latency rises with the rate, and the declared one has the report's own figures."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planner.analysis.under_load import under_load
from planner.api import check_spec, check_text

SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: arrivals}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, count: 1, replicas: 2}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384}
workload:
  load: LOAD
  fixed: {network: 20 ms}
  classes: [{name: allLENGTHS}]
objectives: {time_to_first_token: {p95: 600 ms}, time_per_output_token: {p95: 40 ms}}
"""
LENGTHS = ", prompt_tokens: {p50: 1000, p95: 3000, max: 8000}, output_tokens: {p50: 130, max: 1500}"
SPEC = SPEC.replace("LENGTHS", LENGTHS)


def analysed(load: str, *changes: tuple[str, str]) -> Any:
    text = SPEC.replace("LOAD", load)
    for old, new in changes:
        text = text.replace(old, new)
    judgement = check_text(text)
    assert judgement.result is not None, [item.message for item in judgement.findings]
    return judgement, under_load(judgement.result.detail)


@pytest.fixture(scope="module")
def held() -> Any:
    return analysed("{rate: 18 request/s}")


def test_the_declared_rate_has_the_figures_of_the_report(held: Any) -> None:
    judgement, found = held
    latency = judgement.result.shipped.latency
    point = next(item for item in found.points if item.arrivals_per_s == 18.0)
    assert point.first_token["p95"] == pytest.approx(latency.time_to_first_token_s.p95, rel=1e-12)
    assert point.gap["p95"] == pytest.approx(latency.time_per_output_token_s.p95, rel=1e-12)
    # the distribution has 200 quantiles; its 190th is the 95th percentile
    assert found.first_tokens[189] == pytest.approx(latency.time_to_first_token_s.p95, rel=1e-12)
    assert found.capacity_per_s == judgement.result.shipped.throughput.max_requests_per_s
    assert not found.overloaded and found.noun == "requests"


def test_latency_rises_with_the_rate_and_goodput_falls(held: Any) -> None:
    points = held[1].points
    assert [item.arrivals_per_s for item in points] == sorted(item.arrivals_per_s for item in points)
    for name in ("p50", "p95"):
        values = [item.first_token[name] for item in points]
        assert all(late >= 0.97 * early for early, late in pairwise(values))
    assert points[0].kept_per_s == pytest.approx(points[0].arrivals_per_s, rel=0.01)
    assert points[-1].kept_per_s < 0.9 * points[-1].arrivals_per_s
    assert points[0].arrivals_per_s < held[1].holds_per_s < points[-1].arrivals_per_s


def test_the_series_covers_the_arrivals(held: Any) -> None:
    series = held[1].series
    assert series[0].begin_s == 0.0 and all(a.end_s == b.begin_s for a, b in pairwise(series))
    # 4,000 arrivals at 18 a second
    assert series[-1].end_s == pytest.approx(4000 / 18.0, rel=0.05)
    assert len(series) <= 60


def test_overload_is_a_queue_that_grows() -> None:
    _, found = analysed("{rate: 60 request/s}")
    assert found.overloaded and not found.first_tokens
    assert not next(item for item in found.points if item.arrivals_per_s == 60.0).first_token
    queue = [item.queue for item in found.series]
    assert queue[-1] == max(queue) > 500
    assert all(item.first_token for item in found.points if item.arrivals_per_s < found.capacity_per_s)


def test_a_limited_queue_is_run_beyond_capacity() -> None:
    _, found = analysed("{rate: 45 request/s}", ("  fixed:", "  queue: {requests: 50, timeout: 2 s}\n  fixed:"))
    assert found.limited and not found.overloaded
    last = found.points[-1]
    assert last.arrivals_per_s > found.capacity_per_s and last.rejected > 0.05
    assert last.served_per_s == pytest.approx(last.arrivals_per_s * (1.0 - last.rejected))


def test_a_trace_is_run_at_multiples_of_itself(tmp_path: Path) -> None:
    rows = "".join(f"{index * 0.25},{900 + index % 7},{50 + index % 11}\n" for index in range(400))
    (tmp_path / "day.csv").write_text("arrival_s,input_tokens,output_tokens\n" + rows)
    text = SPEC.replace("LOAD", "{trace: day.csv}").replace(
        "{name: all, prompt_tokens: {p50: 1000, p95: 3000, max: 8000}, output_tokens: {p50: 130, max: 1500}}",
        "{name: all}",
    )
    (tmp_path / "spec.yaml").write_text(text)
    judgement = check_spec(tmp_path / "spec.yaml")
    assert judgement.result is not None, [item.message for item in judgement.findings]
    found = under_load(judgement.result.detail)
    assert found is not None and found.capacity_per_s is None
    # 399 gaps of 0.25 s: 4 a second
    assert [item.arrivals_per_s for item in found.points] == pytest.approx([2.0, 3.0, 4.0, 5.0, 6.0, 8.0])
    assert found.requests == 400


@pytest.mark.parametrize("load", ["{concurrency: 8}", "{sessions: 4}", "{offline: true}"])
def test_only_where_requests_come_by_themselves(load: str) -> None:
    changes = (("max: 1500}}", "max: 1500}, session: {turns: 3}}"),) if "sessions" in load else ()
    assert analysed(load, *changes)[1] is None


def test_nothing_where_nothing_fits() -> None:
    assert analysed("{rate: 1 request/s}", ("Llama-3.1-8B", "Llama-3.1-70B"))[1] is None
