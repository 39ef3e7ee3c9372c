"""What each tool wrote, read: figures are those that stand in the file, divided by hand where they are totals."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.domain.measurement import Measurement, Run
from planner.measurements import read

DATA = Path(__file__).parent / "data"


def measured(name: str) -> Measurement:
    found, findings = read(DATA / name, name=name)
    assert found is not None, findings
    return found


def seen(run: Run) -> dict[str, float]:
    return {item.name: item.value for item in run.observations}


def test_vllm_closed_loop() -> None:
    """6144 and 768 tokens of 24 requests: 256 and 32."""
    found = measured("vllm-serve-0.33.0-c4.json")
    (run,) = found.runs
    assert found.date == "2026-11-30" and found.subject.model == ""
    assert (run.load.kind, run.load.concurrency, run.load.requests) == ("concurrency", 4, 24)
    assert (run.prompt_tokens, run.output_tokens) == (256, 32)
    assert run.subject.tensor_parallel_size == 2  # --metadata tensor_parallel_size=2
    figures = seen(run)
    assert figures["inter_token_latency.mean"] == pytest.approx(0.02014677733871001)
    assert figures["time_to_first_token.p99"] == pytest.approx(0.13217191603974243)
    assert figures["request_latency.p50"] == pytest.approx(0.7319052459999966)
    assert figures["output_tokens_per_second"] == pytest.approx(174.8347992640482)
    assert not run.unusable


def test_vllm_open_loop() -> None:
    (run,) = measured("vllm-serve-0.33.0-rate.json").runs
    assert (run.load.kind, run.load.rate_per_s, run.load.process, run.load.requests) == ("rate", 6.0, "poisson", 24)


def test_sglang_two_lines() -> None:
    """The local server says of itself no tensor parallel size: whose engine it is is not known."""
    found = measured("sglang-serving-0.5.23.jsonl")
    first, second = found.runs
    assert (first.where, second.where) == ("line 1", "line 2")
    assert (first.load.concurrency, second.load.rate_per_s) == (4, 6.0)
    assert seen(first)["time_per_output_token.mean"] == pytest.approx(0.025881641090055254)
    assert seen(first)["request_latency.p90"] == pytest.approx(1.1668541915995775)
    assert found.subject.engine == "" and first.subject.engine == ""


def test_aiperf() -> None:
    found = measured("aiperf-0.13.0.json")
    (run,) = found.runs
    assert (found.tool, found.date) == ("aiperf 0.13.0", "2026-11-30")
    assert (run.load.concurrency, run.load.requests, run.prompt_tokens, run.output_tokens) == (4, 24, 256, 32)
    figures = seen(run)
    assert figures["time_to_first_token.mean"] == pytest.approx(0.12644445679166667)
    assert figures["time_per_output_token.mean"] == pytest.approx(0.02321010076747312)
    assert figures["request_latency.max"] == pytest.approx(1.045984279)
    assert figures["output_tokens_per_second"] == pytest.approx(133.693198798132)


def test_aiperf_csv_says_where_the_load_is() -> None:
    found, (finding,) = read(DATA / "aiperf-0.13.0.csv", name="aiperf.csv")
    assert found is None and "JSON file that was written beside it" in finding.message


@pytest.mark.parametrize("name", ["trtllm-bench-1.2.0-streaming.json", "trtllm-bench-1.2.0-streaming.log"])
def test_trtllm_bench_json_and_print(name: str) -> None:
    """Eight at a time by construction; the print has four digits behind the point."""
    found = measured(name)
    (run,) = found.runs
    assert (run.load.concurrency, run.load.requests) == (8, 32)
    assert (run.prompt_tokens, run.output_tokens) == (1024, 128)
    subject = found.subject
    assert (subject.model, subject.engine, subject.version) == (
        "meta-llama/Llama-3.1-8B-Instruct", "tensorrt-llm", "1.2.0"
    )  # fmt: skip
    assert (subject.weights, subject.cache, subject.tensor_parallel_size, subject.pipeline_parallel_size) == (
        "fp8", "fp8", 2, 1
    )  # fmt: skip
    figures = seen(run)
    assert figures["time_per_output_token.mean"] == pytest.approx(0.0078, abs=1e-7)  # 7.5, 7.7, 7.9, 8.1 in turn
    assert figures["time_to_first_token.p50"] == pytest.approx(0.048, abs=1e-7)  # 42, 45, 48, 51, 54 in turn


def test_trtllm_bench_without_streaming_has_no_first_token() -> None:
    (run,) = measured("trtllm-bench-1.2.0.json").runs
    assert run.load.concurrency == 61  # 61.3 were in the system on average: what the file says
    assert {name.split(".")[0] for name in seen(run)} == {
        "output_tokens_per_second", "requests_per_second", "request_latency"
    }  # fmt: skip


def test_aiperf_open_loop() -> None:
    (run,) = measured("aiperf-0.13.0-rate.json").runs
    assert (run.load.kind, run.load.rate_per_s, run.load.process, run.load.requests) == ("rate", 5.0, "poisson", 24)


def test_guidellm_one_run_a_benchmark() -> None:
    """Its inter-token latency is a mean over requests of each one's mean gap."""
    found = measured("guidellm-0.8.1-two.json")
    first, second = found.runs
    assert (found.tool, found.date) == ("guidellm 0.8.1", "2026-11-30")
    assert [(run.load.concurrency, run.load.requests) for run in found.runs] == [(2, 15), (4, 15)]
    assert (first.prompt_tokens, first.output_tokens) == (256, 32)
    assert seen(first)["time_per_output_token.mean"] == pytest.approx(0.04108781301847069)
    assert seen(first)["time_to_first_token.p99"] == pytest.approx(0.3970036506652832)
    assert seen(second)["output_tokens_per_second"] == pytest.approx(66.26976507064417)


def test_guidellm_open_loop() -> None:
    (run,) = measured("guidellm-0.8.1-poisson.json").runs
    assert (run.load.kind, run.load.rate_per_s, run.load.process) == ("rate", 4.0, "poisson")


def test_genai_perf() -> None:
    """First tokens after 60, 63, 66, 69 and 72 ms in turn, 24 of them; gaps of 8, 8.25, 8.5 and 8.75 ms in turn."""
    found = measured("genai-perf-0.0.16.json")
    (run,) = found.runs
    assert found.tool == "genai-perf"
    assert (run.load.concurrency, run.load.requests, run.prompt_tokens, run.output_tokens) == (4, None, 256, 32)
    assert seen(run)["time_to_first_token.mean"] == pytest.approx(0.06575)
    assert seen(run)["time_per_output_token.mean"] == pytest.approx(0.008375)
    assert seen(run)["output_tokens_per_second"] == pytest.approx(393.3922397233961)


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "txt"])
def test_llama_bench(form: str) -> None:
    """512 prompt tokens at 10,500 a second; 128 answer tokens at 128; both at 470 together; then behind 4096 cached."""
    found = measured(f"llama-bench-b11434.{form}")
    prompt, answer, both, deep_prompt, deep_answer = found.runs
    assert found.subject.engine == "llama-cpp" and found.subject.cache == ""
    assert found.date == ("" if form == "txt" else "2026-11-30")
    assert seen(prompt) == {"prefill.mean": pytest.approx(512 / 10_500, rel=1e-4)}
    assert seen(answer) == {"inter_token_latency.mean": pytest.approx(1 / 128, rel=1e-4)}
    assert (answer.prompt_tokens, answer.output_tokens, answer.load.concurrency) == (1, 128, 1)
    assert seen(both) == {"request_latency.mean": pytest.approx(640 / 470, rel=1e-4)}
    assert deep_prompt.unusable == "a prompt behind 4096 cached tokens"
    assert (deep_answer.prompt_tokens, seen(deep_answer)["inter_token_latency.mean"]) == (
        4096, pytest.approx(1 / 110, rel=1e-4)
    )  # fmt: skip


GIB = 2.0**30


def test_log_of_vllm() -> None:
    found = measured("vllm-log-0.33.0.log")
    memory, subject = found.memory, found.subject
    assert memory is not None and not found.runs
    assert memory.weights_bytes == pytest.approx(7.51 * GIB) and memory.pool_bytes == pytest.approx(61.37 * GIB)
    assert (memory.pool_tokens, memory.graph_bytes, memory.max_model_len) == (1005488, pytest.approx(0.58 * GIB), 8192)
    assert (subject.model, subject.engine, subject.version) == ("meta-llama/Llama-3.1-8B-Instruct", "vllm", "0.33.0")
    assert (subject.tensor_parallel_size, subject.pipeline_parallel_size) == (2, 1)


def test_log_of_sglang() -> None:
    """It prints GB and means GiB: keys and values are 22.42 each."""
    memory = measured("sglang-log-0.5.23.log").memory
    assert memory is not None
    assert memory.weights_bytes == pytest.approx(15.07 * GIB) and memory.pool_bytes == pytest.approx(44.84 * GIB)
    assert (memory.pool_tokens, memory.graph_bytes) == (367404, pytest.approx(0.47 * GIB))
    assert (memory.max_num_seqs, memory.max_model_len) == (2048, 131072)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("INFO 09-01 kv_cache_utils.py:1087] GPU KV cache size: 459,280 tokens\n", 459280),
        ("INFO 02-01 executor_base.py:111] # cuda blocks: 27065, # CPU blocks: 2048\n", 27065 * 16),
        ("INFO 08-01 gpu_executor.py:102] # GPU blocks: 2,048, # CPU blocks: 512\n", 2048 * 16),
        ("[2025-01-01] KV Cache is allocated. #tokens: 367404, K size: 22.4 GB, V size: 22.4 GB\n", 367404),
    ],
)
def test_lines_of_older_logs(tmp_path: Path, text: str, tokens: int) -> None:
    """Lines as earlier releases printed them, from public logs."""
    (tmp_path / "start.log").write_text(text, "utf-8")
    found, _ = read(tmp_path / "start.log", name="start.log")
    assert found is not None and found.memory is not None and found.memory.pool_tokens == tokens
