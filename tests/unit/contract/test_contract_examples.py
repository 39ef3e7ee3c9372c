"""What the language says is right is accepted: every form of every section, and every committed spec."""

# One row a case, however long.
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from planner import contract, levers, source

REPOSITORY = Path(__file__).parents[3]
DOCUMENTS = sorted(
    [*(REPOSITORY / "specs").rglob("*.yaml"), *(REPOSITORY / "planner" / "catalogue" / "accelerators").glob("*.yaml")]
)

PRODUCTION = """\
apiVersion: planner/v1
kind: Deployment
metadata:
  name: support-chat
  owner: team-assist
  description: Customer support assistant, EU region.
model:
  ref: meta-llama/Llama-3.1-70B-Instruct
  revision: 945c8663693130f8be2ee66210e062158b2a9693
hardware:
  accelerator: h100-sxm
  count: 4
  replicas: 2
  price: 2.49 USD/hour
engine:
  name: vllm
  version: "0.11"
  tensor_parallel_size: 4
  max_model_len: 8192
  max_num_seqs: 128
  gpu_memory_utilization: 0.90
workload:
  load: {concurrency: 64}
  classes:
    - name: chat
      prompt_tokens: {p50: 900, p95: 3000, max: 6000}
      output_tokens: {p50: 250, p95: 800, max: 1500}
      prefix: {shared_tokens: 800}
objectives:
  time_to_first_token: {p95: 500 ms}
  inter_token_latency: {p95: 40 ms}
  output_tokens_per_second_per_user: {min: 25 token/s}
  cost_per_million_output_tokens: {max: 3 USD}
  rejected_requests: {max: 0.1 %}
  memory_headroom: {min: 10 %}
levers:
  - use: prefix-caching
  - use: speculative-decoding
    method: draft_model
    draft: {ref: meta-llama/Llama-3.2-1B-Instruct}
    num_speculative_tokens: 4
    acceptance_length: 2.77
    status: consider
  - use: quantize-weights
    format: fp8
    evidence: [evidence/support-chat-fp8.yaml]
    status: consider
  - use: quantize-kv-cache
    format: fp8
    status: reject
    reason: Fails our 32k retrieval set.
"""

TEXTBOOK = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: seven-billion-gqa}
model:
  architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}
  weights: fp16
hardware:
  accelerator:
    memory: 80 GB
    bandwidth: 1 TB/s
    compute: {fp16: 40 TFLOP/s}
  derate: {bandwidth: 1.0, compute: 1.0}
engine: {name: ideal}
workload:
  load: {concurrency: 16}
  classes: [{name: all, context_tokens: 8192}]
"""

# (replaced in the conftest's spec, by): each form that the language has.
ACCEPTED = [
    ("  name: chat\n", "  name: chat\n  expect: infeasible\n"),
    ("  name: chat\n", "  name: chat\n  expect: at-risk\n"),
    ("  ref: meta-llama/Llama-3.1-8B-Instruct", "  config: ./config.json"),
    ("  ref: meta-llama/Llama-3.1-8B-Instruct", "  gguf: ./model.gguf"),
    ("  ref: meta-llama/Llama-3.1-8B-Instruct", "  ref: a/b\n  weights: q4_k_m"),
    ("  accelerator: l4", "  accelerator: {ref: m3-ultra, memory: 256 GB}"),
    ("l4\n  count: 1\nengine:", "[l4, t4]\n  count: 2\nengine:\n  tensor_parallel_size: 2"),
    ("l4\n  count: 1\nengine:", "[{ref: l4, count: 2}, t4]\nengine:\n  pipeline_parallel_size: 3"),
    ("  accelerator: l4", "  accelerator: {memory: {marketed: 80 GB, framework: 79.11 GiB}, bandwidth: 3.35 TB/s}"),
    ("  count: 1", "  replicas: {min: 2, max: 6, start_time: 110 s}"),
    ("  count: 1", "  interconnect: {domain: 8, scale_up: 450 GB/s, scale_out: 400 Gbit/s}"),
    ("  count: 1", "  host: {memory: 512 GiB, bandwidth: 300 GB/s, link: 55 GB/s}"),
    ("  count: 1", "  usable_memory: 79.18 GiB\n  reserved: 4 GiB\n  placement: node-7/gpu-0"),
    ("  count: 1", "  derate: {bandwidth: 85 %, compute: 0.6}"),
    ("  max_model_len: 8192", "  pipeline_parallel_size: 1\n  data_parallel_size: 1\n  expert_parallel_size: 8"),
    ("  max_model_len: 8192", "  max_num_batched_tokens: 8192\n  block_size: 16\n  num_gpu_blocks_override: 1000"),
    ("  max_model_len: 8192", "  kv_cache_dtype: auto\n  enforce_eager: false\n  enable_chunked_prefill: true"),
    ("  max_model_len: 8192", "  enable_prefix_caching: true\n  max_loras: 4\n  max_lora_rank: 16\n  admission: on-demand"),
    ("  max_model_len: 8192", "  limit_mm_per_prompt: {image: 4, video: 0}\n  mm_processor_kwargs: {max_pixels: 1003520}"),
    ("  max_model_len: 8192", "  args: {swap-space: 8, --disable-log-stats: true}"),
    ("  name: vllm\n", "  name: sglang\n  mem_fraction_static: 0.85\n"),
    ("  name: vllm\n", "  name: tensorrt-llm\n  free_gpu_memory_fraction: 0.9\n"),
    ("  name: vllm\n", "  name: llama-cpp\n  gpu_layers: 20\n"),
    ("{concurrency: 8}", "{offline: true}"),
    ("{concurrency: 8}", "{offline: true, requests: 640}"),
    ("{concurrency: 8}", "{rate: 4 request/s, process: gamma, cv: 2.1}"),
    ("{concurrency: 8}", "{rate: 240 request/minute, process: constant, peak: 3}"),
    ("{concurrency: 8}", "{trace: traces/day.csv, scale: 1.5}"),
    ("{concurrency: 8}", "{period: 100 ms, actions: 8}"),
    ("{concurrency: 8}", "{concurrency: 8}\n  fixed: {network: 20 ms, preprocessing: 5 ms}"),
    ("{concurrency: 8}", "{concurrency: 8}\n  growth: {rate: 8 % / month, from: 2026-11-01}"),
    ("prompt_tokens: 500", "prompt_tokens: {mean: 500, p50: 400, p90: 900, p95: 1000, p99: 1100, max: 6000}"),
    ("prompt_tokens: 500", "prompt_tokens: {trace: traces/lengths.csv}"),
    ("output_tokens: 100", "output_tokens: 100\n      prefix: {hit_rate: 0.66}"),
    ("output_tokens: 100", "output_tokens: 100\n      images: {count: 3, tokens: 1280}\n      adapters: 32"),
    ("output_tokens: 100", "output_tokens: 100\n      session: {turns: 40, turn_delay: 3 s, context_growth: 2650}"),
    ("output_tokens: 100", "output_tokens: 100\n      objectives: {time_per_output_token: {mean: 50 ms}}"),
    ("  load: {concurrency: 8}\n  classes:\n    - name: chat\n", "  classes:\n    - name: chat\n      load: {rate: 1 request/s}\n"),
    ("objectives:", "objectives:\n  request_latency: {max: 2 s}\n  session_latency: {p90: 1 hour}\n  completion_time: {max: 8 hour}"),
    ("objectives:", "objectives:\n  goodput: {min: 4 request/s}\n  output_tokens_per_second: {min: 1000 token/s}"),
    ("objectives:", "objectives:\n  cost: {max: 45000 USD/month}\n  replicas_down: 1"),
    ("objectives:", "objectives:\n  cost: {max: 400 USD}\n  deadline: {max: 100 ms, fallback: hold-position}"),
    ("- use: prefix-caching", "- {use: change, name: wide, set: {engine: {tensor_parallel_size: 8, max_num_seqs: null}, hardware: {count: 8}}}"),
    ("levers:", "calibration: ./calibration.yaml\nmeasurements: [measurements/a.json]\nextends: ./base.yaml\nlevers:"),
    ("levers:", "waivers: [{finding: a-b, path: /levers/quantize-weights, reason: r, expires: 2027-01-31}]\nlevers:"),
]  # fmt: skip


def test_the_production_spec(validate: Any) -> None:
    assert validate(PRODUCTION) == ()


def test_the_textbook_spec(validate: Any) -> None:
    assert validate(TEXTBOOK) == ()


@pytest.mark.parametrize(("old", "new"), ACCEPTED, ids=[new[-40:].strip() for _, new in ACCEPTED])
def test_every_form_is_accepted(validate: Any, spec: str, old: str, new: str) -> None:
    assert old in spec
    text = spec.replace(old, new, 1)
    if "extends:" in text:
        text = text.replace("extends: ./base.yaml\n", "")
    assert validate(text) == ()


@pytest.mark.parametrize("module", levers.all_levers(), ids=lambda module: module.NAME)
def test_the_example_of_every_lever(validate: Any, spec: str, module: Any) -> None:
    text = spec.replace("  - use: prefix-caching\n", indent(module.EXAMPLE, "  "))
    assert validate(text) == ()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_committed_documents(path: Path) -> None:
    document, problems = source.load(path)
    assert document is not None, problems
    assert contract.validate(document) == ()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "metadata: {owner: me}\n",
        "engine: {gpu_memory_utilization: 0.9}\n",
        "engine: {name: vllm, gpu_memory_utilization: 0.9}\nhardware: {count: 4}\n",
        "workload: {classes: [{name: chat, share: 0.5}]}\nlevers: [{use: quantize-weights}]\n",
        "objectives: {cost: {max: 1 USD/hour}}\nmodel: {weights: fp8}\n",
    ],
)
def test_a_base_is_any_part(validate: Any, body: str) -> None:
    assert validate(f"apiVersion: planner/v1\nkind: Base\n{body}") == ()


def test_a_base_is_closed_too(validate: Any) -> None:
    found = validate(
        "apiVersion: planner/v1\nkind: Base\nengine: {gpu_memory_utilisation: 0.9}\nlevers: [{use: change, sat: {}}]\n"
    )
    assert [item.id for item in found] == ["unknown-key", "unknown-key"]


def test_a_project(validate: Any) -> None:
    head = "apiVersion: planner/v1\nkind: Project\n"
    assert (
        validate(head + "catalogue: [./catalogue]\nseverities: {memory-headroom-low: error}\nreports: reports\n") == ()
    )
    assert [item.id for item in validate(head + "severities: {memory-headroom-low: fatal, Low: note}\n")] == [
        "not-allowed-value",
        "unknown-key",
    ]


def test_model_documents(validate: Any) -> None:
    head = "apiVersion: planner/v1\nkind: Model\nmetadata: {name: org/model}\n"
    figures = "architecture: {parameters: 7e9, layers: 32, attention: {kv_heads: 8, head_dim: 128}}\n"
    groups = "model: {hidden: 8, vocabulary: 10, groups: [{layers: 0-1, mixers: [{kind: none}], norms: [n 8]}]}\n"
    assert validate(head + figures) == ()
    assert validate(head + groups) == ()
    assert [item.id for item in validate(head)] == ["missing-key"]
    assert [item.id for item in validate(head + figures + groups)] == ["conflicting-keys"]
