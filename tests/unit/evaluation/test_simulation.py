"""Loads that closed forms only bound, through the event simulation, from spec to figures."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from planner.api import check_spec
from planner.pipeline import Judgement

SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: traffic}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, count: 1REPLICAS}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384ENGINE}
workload:
  load: LOAD
  classes: [{name: all, CLASS}]
MORE
objectives: {time_to_first_token: {p95: 2 s}, rejected_requests: {max: 1 %}}
"""
MOONCAKE = """\
{"timestamp": 27000, "input_length": 1030, "output_length": 500, "hash_ids": [0, 1]}
{"timestamp": 30000, "input_length": 6758, "output_length": 5, "hash_ids": [0, 7]}
"""
BAILIAN = """\
{"chat_id": 1, "timestamp": 61.1, "input_length": 48, "output_length": 5, "hash_ids": [1, 2, 3]}
{"chat_id": 2, "timestamp": 63.1, "input_length": 16, "output_length": 5, "hash_ids": [1]}
"""
LENGTHS = "prompt_tokens: {p50: 1000, p95: 3000, max: 8000}, output_tokens: {p50: 130, p95: 500, max: 1500}"


def judged(tmp_path: Path, load: str, lengths: str = LENGTHS, more: str = "", engine: str = "", replicas: str = "",
           name: str = "spec.yaml") -> Judgement:  # fmt: skip
    text = SPEC
    for key, value in (("REPLICAS", replicas), ("ENGINE", engine), ("LOAD", load), ("CLASS", lengths), ("MORE", more)):
        text = text.replace(key, value)
    (tmp_path / name).write_text(text)
    return check_spec(tmp_path / name)


def figures(judgement: Judgement) -> Any:
    assert judgement.result is not None, [item.message for item in judgement.findings]
    return judgement.result.shipped


def test_a_higher_rate_waits_longer(tmp_path: Path) -> None:
    slow, fast = (figures(judged(tmp_path, f"{{rate: {rate} request/s}}")) for rate in (4, 14))
    assert slow.latency.time_to_first_token_s.p95 < fast.latency.time_to_first_token_s.p95
    assert slow.latency.time_to_first_token_s.p50 <= slow.latency.time_to_first_token_s.p99
    assert slow.throughput.rejected_fraction == 0.0


def test_the_same_spec_gives_the_same_figures(tmp_path: Path) -> None:
    first, second = (figures(judged(tmp_path, "{rate: 9 request/s, process: gamma, cv: 2}")) for _ in range(2))
    assert first == second


def test_bursts_wait_longer_than_a_steady_stream(tmp_path: Path) -> None:
    steady, bursts = (
        figures(judged(tmp_path, f"{{rate: 9 request/s, {process}}}"))
        for process in ("process: constant", "process: gamma, cv: 3")
    )
    assert steady.latency.time_to_first_token_s.p99 < bursts.latency.time_to_first_token_s.p99


def test_a_full_queue_turns_requests_away(tmp_path: Path) -> None:
    found = figures(
        judged(
            tmp_path,
            "{rate: 14 request/s, process: gamma, cv: 4}",
            more="  queue: {requests: 4}",
            engine=", max_num_seqs: 32",
        )
    )
    assert found.throughput.rejected_fraction > 0.0


def test_a_finite_run_begins_with_a_burst_and_ends(tmp_path: Path) -> None:
    """640 requests, 64 at a time: the burst of the first 64 makes the largest TTFT, ten rounds make the time."""
    found = figures(judged(tmp_path, "{concurrency: 64, requests: 640}", "prompt_tokens: 1000, output_tokens: 200"))
    first = found.latency.time_to_first_token_s
    assert first.max > 3.0 * first.p50
    # Ten rounds of 200 tokens; some ramp at either end.
    rounds = found.latency.completion_s / (200 * found.latency.inter_token_latency_s.mean)
    assert 9.0 < rounds < 13.0


def test_a_recorded_load_takes_its_lengths_from_the_trace(tmp_path: Path) -> None:
    rows = "".join(f"{index * 0.5},{900 + index % 7},{50 + index % 11}\n" for index in range(400))
    with gzip.open(tmp_path / "day.csv.gz", "wt") as stream:
        stream.write("arrival_s,input_tokens,output_tokens\n" + rows)
    judgement = judged(tmp_path, "{trace: day.csv.gz, scale: 2}", "share: 1")
    assert judgement.plan is not None and judgement.plan.workload.classes[0].prompt is not None
    assert judgement.plan.workload.classes[0].prompt.maximum == 906
    found = figures(judgement)
    # 400 requests over 199.5 s at double speed: 4 a second while the last is served.
    assert found.throughput.requests_per_s == pytest.approx(4.0, rel=0.02)
    assert found.latency.time_to_first_token_s.p95 is not None


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("a,b\n1,2\n", "no column arrival_s, input_tokens, output_tokens", 2),
        ("arrival_s,input_tokens,output_tokens\n0,10,ten\n", "'ten' in output_tokens", 2),
        ("arrival_s,input_tokens,output_tokens\nsoon,10,10\n", "a time that is none", 2),
        ('{"timestamp": 0, "input_length": 5, "output_length": 5}\nnot json\n', "not JSON", 2),
        ("", "is empty", 1),
        ("arrival_s,input_tokens,output_tokens\n", "holds no request", 1),
    ],
)
def test_a_trace_that_cannot_be_read_is_no_trace(tmp_path: Path, text: str, says: str, line: int) -> None:
    (tmp_path / "t.csv").write_text(text)
    judgement = judged(tmp_path, "{trace: t.csv}")
    found = next(item for item in judgement.findings if item.id == "trace-not-read")
    assert judgement.result is None and says in found.message
    assert found.location is not None and (found.location.file, found.location.line) == ("t.csv", line)


@pytest.mark.parametrize(
    ("text", "arrivals", "prompts"),
    [
        # Azure: seven digits of a second
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,374,44\n2023-11-16 18:17:05.0,396,109\n",
         [0.0, 1.020040], [374, 396]),
        # BurstGPT, out of order
        ("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n9,G,7,1,8,C\n5,G,472,18,490,C\n",
         [0.0, 4.0], [472, 7]),
        # Mooncake: milliseconds and blocks
        (MOONCAKE, [0.0, 3.0], [1030, 6758]),
        # Bailian: seconds
        (BAILIAN, [0.0, 2.0], [48, 16]),
    ],
)  # fmt: skip
def test_published_traces_are_understood(tmp_path: Path, text: str, arrivals: list[float], prompts: list[int]) -> None:
    (tmp_path / "t.txt").write_text(text)
    judgement = judged(tmp_path, "{trace: t.txt}")
    assert judgement.plan is not None, [item.message for item in judgement.findings]
    recording = judgement.plan.workload.load.recording
    assert recording is not None
    assert list(recording.arrival_s) == pytest.approx(arrivals, abs=1e-5) and list(recording.input_tokens) == prompts


def test_turns_of_a_session_find_their_context_in_the_cache(tmp_path: Path) -> None:
    lengths = "prompt_tokens: 2000, output_tokens: 100, session: {turns: 8, turn_delay: 1 s, context_growth: 1000}"
    found = judged(tmp_path, "{sessions: 8}", lengths)
    cold = judged(tmp_path, "{sessions: 8}", lengths, engine=", enable_prefix_caching: false")
    assert figures(found).latency.time_to_first_token_s.mean < figures(cold).latency.time_to_first_token_s.mean / 2
    assert found.result is not None
    # Turns 2 to 8 find all but what the turn before added: (3000 + ... + 9000 - 7 x ~900)/(2000 + ... + 9000) or so.
    assert 0.75 < found.result.detail.served.simulated.outcome.hit_rate < 0.9


def test_interactive_and_batch_classes_share_the_engine(tmp_path: Path) -> None:
    text = (
        SPEC.replace("REPLICAS", "").replace("ENGINE", "").replace("  load: LOAD\n", "").replace("MORE\n", "")
    ).replace(
        "[{name: all, CLASS}]",
        "[{name: chat, load: {rate: 2 request/s}, prompt_tokens: 500, output_tokens: 100},"
        " {name: batch, load: {concurrency: 16, requests: 200}, prompt_tokens: 4000, output_tokens: 100}]",
    )
    (tmp_path / "two.yaml").write_text(text)
    found = figures(check_spec(tmp_path / "two.yaml"))
    assert set(found.classes) == {"chat", "batch"}
