"""The report's section on replicas: how many, which pools, and what holds while some are missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.api import check_text
from planner.report import replicas
from planner.report.build import build
from planner.report.render import render_html, render_markdown
from planner.report.report_model import ReplicaSection

# A prompt takes 0.35 s, so a replica serves 2.85 a second.
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: fleet}
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
  replicas: REPLICAS
  interconnect: {domain: 1, scale_out: 10 GB/s}
engine: {name: ideal}
workload:
  load: LOAD
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 2}]
objectives: {time_to_first_token: {p95: 3 s}MORE}
"""
SPLIT = """\
levers:
  - use: disaggregated-prefill
    prefill: {hardware: {replicas: 2}}
    decode: {hardware: {replicas: 1}}
"""


def section(number: str, load: str, more: str = "", levers: str = "") -> ReplicaSection | None:
    found = check_text(SPEC.replace("REPLICAS", number).replace("LOAD", load).replace("MORE", more) + levers)
    assert found.plan is not None and found.result is not None, [item.message for item in found.findings]
    return replicas.section(found.plan, found.result)


def texts(table: Any) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in table.rows]


def test_nothing_to_say_of_one_replica() -> None:
    assert section("1", "{rate: 1 request/s}") is None
    assert section("2", "{rate: 1 request/s}") is None


def test_a_lost_replica_has_a_row_an_objective() -> None:
    found = section("2", "{rate: 1 request/s}", ", replicas_down: 1, rejected_requests: {max: 1 %}")
    assert found is not None and found.sentence == "2 replicas serve." and found.pools is None
    rows = texts(found.missing)
    assert [row[:3] for row in rows] == [
        ["replicas lost", "1 of 2", "time_to_first_token.p95"],
        ["replicas lost", "1 of 2", "rejected_requests"],
    ]
    assert [row[5] for row in rows] == ["met", "met"]


def test_scaling_says_where_it_settles_and_how_the_peak_is_met() -> None:
    found = section("{min: 1, max: 4, start_time: 60 s}", "{rate: 1 request/s, peak: 4}")
    assert found is not None
    assert found.sentence == (
        "Scaling settles at 3 of 1 to 4 replicas at the declared load, 1 at its mean rate, which is what is paid for."
    )
    (row,) = texts(found.missing)
    assert row[0] == "the load rises to its peak" and row[1] == "1 of 3" and row[5] == "missed"


def test_pools_are_listed() -> None:
    """14 GB of weights in each pool; 66 GB for the cache; prompts 2 x 2.86 a second."""
    found = section("3", "{rate: 1 request/s}", levers=SPLIT)
    assert found is not None and found.sentence.startswith("3 replicas in two pools")
    rows = texts(found.pools)
    assert [row[:3] for row in rows] == [["prefill", "2", "2"], ["decode", "1", "1"]]
    assert all("14.0 GB" in row[3] for row in rows)
    assert rows[0][5].startswith("5.71 requests")


@pytest.mark.parametrize("render", [render_markdown, render_html])
def test_both_formats_print_it(render: Any, textbook: Any) -> None:
    found = section("2", "{rate: 1 request/s}", ", replicas_down: 1")
    model = replace(build(*textbook.arguments()), replicas=found)
    text = render(model)
    assert "Replicas" in text and "replicas lost" in text and "time_to_first_token.p95" in text
