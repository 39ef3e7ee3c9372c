"""What a spec switches on is in the run: prefix blocks of a trace, speculation, chunked prompts, seats and blocks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.api import check_spec, check_text

HEAD = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: techniques}
"""
REAL = (
    HEAD
    + """\
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384ENGINE}
"""
)
TEXTBOOK = (
    HEAD
    + """\
model: {architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware:
  accelerator: {memory: 80 GB, bandwidth: 1 TB/s, compute: {fp16: 40 TFLOP/s}}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload:
  load: {rate: 0.1 request/s, process: constant}
  classes: [{name: all, prompt_tokens: 1000, output_tokens: 51}]
"""
)


def shipped(judgement: Any) -> Any:
    assert judgement.result is not None, [item.message for item in judgement.findings]
    return judgement.result


def traced(tmp_path: Path, rows: list[dict[str, Any]], engine: str = "") -> Any:
    """A spec under recorded arrivals with the blocks of their prompts."""
    (tmp_path / "day.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = REAL.replace("ENGINE", engine) + "workload: {load: {trace: day.jsonl}, classes: [{name: all}]}\n"
    (tmp_path / "spec.yaml").write_text(text)
    return shipped(check_spec(tmp_path / "spec.yaml")).detail.served.simulated.outcome


def row(at_ms: int, blocks: list[int], more: int = 100) -> dict[str, Any]:
    """A prompt of whole blocks of 512 tokens and a little more, as Mooncake writes it."""
    return {"timestamp": at_ms, "input_length": 512 * len(blocks) + more, "output_length": 10, "hash_ids": blocks}


def test_blocks_of_a_trace_are_found_again(tmp_path: Path) -> None:
    """Prompts of blocks 1 2 3, 1 2 4 and 1 2 3: the second finds two blocks, the third three: 2,560 of 4,908 tokens."""
    rows = [row(0, [1, 2, 3]), row(10_000, [1, 2, 4]), row(20_000, [1, 2, 3])]
    assert traced(tmp_path, rows).hit_rate == pytest.approx(5 * 512 / (3 * 1636))
    assert traced(tmp_path, rows, ", enable_prefix_caching: false").hit_rate == 0.0


def test_a_block_behind_another_beginning_is_not_found(tmp_path: Path) -> None:
    """A block counts only behind the same blocks: 9 2 3 finds nothing of 1 2 3."""
    assert traced(tmp_path, [row(0, [1, 2, 3]), row(10_000, [9, 2, 3])]).hit_rate == 0.0


def test_what_a_small_cache_has_dropped_is_not_found(tmp_path: Path) -> None:
    """1,100 blocks of 16 are 17,600 tokens. Two other prompts of 16,000 between push the first one out."""
    first, others = [1, 2, 3], [list(range(100, 130)), list(range(200, 230))]
    rows = [row(0, first), row(20_000, others[0]), row(40_000, others[1]), row(60_000, first)]
    small = traced(tmp_path, rows, ", num_gpu_blocks_override: 1100")
    assert small.hit_rate < traced(tmp_path, rows).hit_rate
    assert small.hit_rate == 0.0


def test_recorded_sessions_have_a_latency(tmp_path: Path) -> None:
    """Session 7 from 0 s to a little after 30 s, session 8 of one request has none."""
    lines = ["arrival_s,input_tokens,output_tokens,session", "0,1000,10,7", "5,1000,10,8", "30,1200,10,7"]
    (tmp_path / "day.csv").write_text("\n".join(lines) + "\n")
    text = REAL.replace("ENGINE", "") + "workload: {load: {trace: day.csv}, classes: [{name: all}]}\n"
    (tmp_path / "spec.yaml").write_text(text)
    found = shipped(check_spec(tmp_path / "spec.yaml")).shipped.latency.session_latency_s
    assert 30.0 < found.max < 30.5 and found.max == found.p50


def test_levers_are_compared_on_recorded_traffic(tmp_path: Path) -> None:
    """Recorded arrivals have no closed form: what a lever does is read off two runs of the same requests."""
    rows = [row(2_000 * index, [1, 2, 3, 10 + index % 3]) for index in range(40)]
    (tmp_path / "day.jsonl").write_text("".join(json.dumps(item) + "\n" for item in rows))
    text = REAL.replace("ENGINE", "") + (
        "workload: {load: {trace: day.jsonl}, classes: [{name: all}]}\nlevers: [{use: prefix-caching}]\n"
    )
    (tmp_path / "spec.yaml").write_text(text)
    found = shipped(check_spec(tmp_path / "spec.yaml"))
    effect = next(item.effect for item in found.steps if item.lever.use == "prefix-caching")
    assert effect["time_to_first_token_s"] < -0.3


def test_speculation_keeps_its_tokens_a_step() -> None:
    """2.5 tokens of every step: 50 tokens after the first take 20 steps. A step reads 14 GB and the cache of 1,025
    tokens, 134 MB, at 1 TB/s, and computes 5 tokens, well below: 14.13 ms, so 5.65 ms a token.
    """
    lever = "levers: [{use: speculative-decoding, method: ngram, num_speculative_tokens: 4, acceptance_length: 2.5}]\n"
    plain, drafted = (shipped(check_text(TEXTBOOK + more)) for more in ("", lever))
    assert plain.shipped.latency.time_per_output_token_s.mean == pytest.approx(0.01413, rel=0.01)
    assert drafted.shipped.latency.time_per_output_token_s.mean == pytest.approx(0.01413 / 2.5, rel=0.01)
    assert drafted.detail.served.simulated.outcome.requests > 1_000


def test_a_draft_model_costs_its_own_steps() -> None:
    """As before, and four steps of a draft of 0.7e9 parameters before each: 4 x 1.4 GB / 1 TB/s = 5.6 ms more."""
    lever = """\
levers:
  - use: speculative-decoding
    method: draft_model
    draft: {architecture: {parameters: 7e8, layers: 1, attention: {kv_heads: 1, head_dim: 64}}, weights: fp16}
    num_speculative_tokens: 4
    acceptance_length: 2.5
"""
    found = shipped(check_text(TEXTBOOK + lever)).shipped.latency.time_per_output_token_s.mean
    assert found == pytest.approx((0.01413 + 0.0056) / 2.5, rel=0.02)


LONG = """\
workload:
  load: {rate: 1 request/s}
  classes: [{name: all, prompt_tokens: 8000, output_tokens: 100}]
"""


def test_chunked_prompts_shorten_the_longest_gap() -> None:
    """A prompt of 8,000 in one step, or in steps of 2,048 tokens at most."""
    whole = REAL.replace("ENGINE", ", enable_chunked_prefill: false, max_num_batched_tokens: 16384") + LONG
    chunks = REAL.replace("ENGINE", ", max_num_batched_tokens: 2048") + LONG
    one, other = (shipped(check_text(text)).shipped.latency.inter_token_latency_s.max for text in (whole, chunks))
    assert other < one / 2.5


def test_seats_bound_what_runs() -> None:
    text = REAL.replace("ENGINE", ", max_num_seqs: 2") + LONG.replace("1 request/s", "4 request/s")
    found = shipped(check_text(text))
    run = found.detail.served.simulated
    assert run is None or run.outcome.batch <= 2.0
