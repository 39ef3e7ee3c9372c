"""Rules that span several keys."""

# One row a case, however long.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

ENGINE = "  max_model_len: 8192"
CLASS = "      prompt_tokens: 500\n      output_tokens: 100"
LEVER = "  - use: prefix-caching"
LOAD = "  load: {concurrency: 8}"
MODEL = "  ref: meta-llama/Llama-3.1-8B-Instruct"
FIGURES = "  architecture: {parameters: 7e9, layers: 32, attention: %s%s}"
LATENT = "{kind: latent, head_dim: 128, latent_dim: 512, rope_dim: 64}"

REFUSED: list[tuple[str, str, str, str]] = [
    # Accelerators against the parallel sizes: 4 x 1 x 1 = 4, not 1; 2 x 3 = 6
    ("  accelerator: l4\n  count: 1", "  accelerator: [l4, t4]\n  count: §3", "count-mismatch", "the list of accelerators has 2"),
    # What must rise
    ("prompt_tokens: 500", "prompt_tokens: {p50: 900, p95: §800, max: 6000}", "not-in-order", "p95 is `800`, less than p50"),
    ("prompt_tokens: 500", "prompt_tokens: {p95: 900, max: §800}", "not-in-order", "max is `800`, less than p95"),
    ("prompt_tokens: 500", "prompt_tokens: {mean: §900, max: 800}", "figures-disagree", "they allow 0 to 800"),
    ("{p95: 500 ms}", "{p50: 1 s, p99: §999 ms}", "not-in-order", "p99 is `999 ms`"),
    ("objectives:", "objectives:\n  cost: {min: 2 USD/hour, max: §1 USD/hour}", "not-in-order", ""),
    ("  count: 1", "  count: 1\n  replicas: {min: 3, max: §2}", "not-in-order", "max is `2`, less than min"),
    # A mean within what percentiles allow: {p50 900, p95 3000, max 6000}: 0.45 x 900 + 0.05 x 3000 = 555 at least,
    # 0.5 x 900 + 0.45 x 3000 + 0.05 x 6000 = 2100 at most; without a maximum no most
    ("prompt_tokens: 500", "prompt_tokens: {mean: §2500, p50: 900, p95: 3000, max: 6000}", "figures-disagree", "they allow 555 to 2,100"),
    ("output_tokens: 100", "output_tokens: {mean: §500, p50: 900, p95: 3000, max: 6000}", "figures-disagree", "cannot have p50 `900`, p95 `3000`, max `6000`"),
    ("output_tokens: 100", "output_tokens: {mean: §200, p50: 1000}", "figures-disagree", "they allow 500 or more"),
    ("prompt_tokens: 500", "prompt_tokens: {trace: ./t.csv, §p50: 900}", "conflicting-keys", "`trace` gives the lengths"),
    (LEVER, "  - {use: quantize-weights, name: a, format: fp8}\n  - §{use: quantize-weights, name: b, format: int4}", "contradicting-lever", "as `a` and as `b`"),
    ("{p95: 500 ms}", "{mean: 2 s, max: §1 s}", "not-in-order", "less than mean"),
    # Parts of a prompt
    ("prompt_tokens: 500", "prompt_tokens: {p50: §0, max: 100}", "out-of-range", "at least 1"),
    ("prompt_tokens: 500", "prompt_tokens: §0", "out-of-range", "at least 1"),
    ("output_tokens: 100", "output_tokens: 100\n      prefix: {shared_tokens: §600}", "figures-disagree", "prompt_tokens is `500`"),
    (CLASS, "      prompt_tokens: {p50: 900, max: 6000}\n      output_tokens: 1\n      prefix: {shared_tokens: §1000}", "figures-disagree", "the p50 of prompt_tokens is `900`"),
    (CLASS, "      context_tokens: 500\n      §prefix: {hit_rate: 0.5}", "misplaced-key", "`prefix` belongs to a prompt"),
    (CLASS, "      context_tokens: 500\n      §images: {count: 1, tokens: 256}", "misplaced-key", "`images`"),
    # The load
    (LOAD, "  load: {concurrency: 8, §peak: 3}", "misplaced-key", "`concurrency`"),
    (LOAD, "  load: {offline: true, §peak: 3}", "misplaced-key", "`offline`"),
    (LOAD, "  load: {rate: 4 request/s, process: gamma}", "missing-key", "needs the key `cv`"),
    (LOAD, "  load: {rate: 4 request/s, §cv: 2}", "conflicting-keys", "poisson, the default"),
    (LOAD, "  load: {sessions: 50}", "missing-key", "`session`"),
    (LOAD + "\n", "", "missing-key", "`workload` lacks the key `load`"),
    # Keys without their partner
    (ENGINE, "  §max_lora_rank: 16", "misplaced-key", "nothing without `max_loras`"),
    ("  count: 1", "  count: 1\n  kubernetes: {strategy: Recreate, §max_surge: 1}", "misplaced-key", "RollingUpdate"),
    ("  count: 1", "  count: 1\n  kubernetes: {max_surge: 0, max_unavailable: §0}", "out-of-range", "both 0"),
    # Classes
    (CLASS, "      prompt_tokens: 500", "missing-key", "`output_tokens`"),
    (CLASS, CLASS + "\n      share: §0.9", "shares-do-not-add-up", "0.9"),
    (CLASS, CLASS + "\n      share: 60 %\n    - {name: b, context_tokens: 1, share: §50 %}", "shares-do-not-add-up", "1.1"),
    (CLASS, CLASS + "\n      share: §1\n    - {name: b, context_tokens: 1}", "shares-do-not-add-up", "the others leave"),
    # Names
    (CLASS, CLASS + "\n    - {name: §chat, context_tokens: 5}", "duplicate-name", "two classes are called `chat`"),
    (LEVER, LEVER + "\n  - use: §prefix-caching", "duplicate-name", "`prefix-caching`"),
    # A key that a lever owns
    (ENGINE, "  enable_prefix_caching: §false", "contradicting-lever", "rejects the lever, but the stack says adopt"),
    # Dates
    (LEVER, LEVER + "\nwaivers: [{finding: a, path: /x, reason: r, expires: §2027-02-30}]", "not-a-date", "2027-02-30"),
    (LOAD, LOAD + "\n  growth: {rate: 8 % / month, from: §2026-13-01}", "not-a-date", "2026-13-01"),
    # Figures
    (MODEL, FIGURES % ("{head_dim: 128, heads: 30, kv_heads: §8}", ""), "figures-disagree", "30 query heads"),
    (MODEL, FIGURES % ("{head_dim: 128, kv_heads: 8, §latent_dim: 512}", ""), "misplaced-key", "latent attention"),
    (MODEL, FIGURES % (LATENT, ", active_parameters: §8e9"), "figures-disagree", "more than parameters"),
    (MODEL, FIGURES % (LATENT, ", experts: {count: 4, per_token: §8}"), "figures-disagree", "experts.per_token is 8"),
    (MODEL, FIGURES % ("{head_dim: 1, kv_heads: 1, window: 8, window_layers: §33}", ""), "figures-disagree", "33"),
    # Flags that are keys
    (ENGINE, "  args: {§--max-model-len: 4096}", "modelled-argument", "`--max-model-len`"),
    (ENGINE, "  args: {§tp-size: 2}", "modelled-argument", "`tp-size`"),
    (ENGINE, "  args: {§gpu-memory-utilization: 0.8}", "modelled-argument", ""),
    # Precisions
    (MODEL, MODEL + "\n  weights: §fp9", "unknown-format", "no weights format `fp9`"),
    (ENGINE, "  kv_cache_dtype: §fp9", "unknown-format", "no cache format `fp9`"),
    (LEVER, "  - {use: quantize-weights, format: §awq-int5}", "unknown-format", "`awq-int5`"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "slug", "message"), REFUSED, ids=[f"{c[2]}:{c[1][-28:].strip()}" for c in REFUSED]
)
def test_refused_where_it_was_written(marked: Any, old: str, new: str, slug: str, message: str) -> None:
    found, place = marked(old, new)
    assert found.id == slug
    assert message in found.message
    if "§" in new:
        assert f"{found.location.line}:{found.location.column}" == place


@pytest.mark.parametrize(
    "length",
    [
        "{mean: 2100, p50: 900, p95: 3000, max: 6000}",  # the largest mean that they allow
        "{mean: 555, p50: 900, p95: 3000, max: 6000}",  # the least
        "{mean: 600, p50: 0.9e3, p95: 1000}",  # nothing is known of the longest 5 %
        "{mean: 33.3, p50: 33.33333, max: 33.33333}",  # digits that were rounded
        "{mean: 500}",
        "{mean: 500, max: 500}",
    ],
)
def test_means_that_percentiles_allow(validate: Any, spec: str, length: str) -> None:
    assert validate(spec.replace("prompt_tokens: 500", f"prompt_tokens: {length}")) == ()


def test_a_peak_of_a_closed_loop_says_the_load_to_write(validate: Any, spec: str) -> None:
    (found,) = validate(spec.replace("{concurrency: 8}", "{concurrency: 8, peak: 3}"))
    assert "concurrency: 24" in found.hint


@pytest.mark.parametrize(
    ("key", "lever", "accepted"),
    [
        ("engine: enforce_eager: true", "{use: cuda-graphs}", False),
        ("engine: enforce_eager: true", "{use: cuda-graphs, status: consider}", True),
        ("engine: enforce_eager: true", "{use: cuda-graphs, status: reject}", True),
        ("engine: enforce_eager: false", "{use: cuda-graphs, status: reject}", False),
        ("engine: enable_chunked_prefill: true", "{use: chunked-prefill}", True),
        ("engine: enable_chunked_prefill: true", "{use: chunked-prefill, status: consider}", False),
        ("engine: kv_cache_dtype: fp8", "{use: quantize-kv-cache, format: fp8}", True),
        ("engine: kv_cache_dtype: fp8_e4m3", "{use: quantize-kv-cache, format: fp8}", True),
        ("engine: kv_cache_dtype: fp8", "{use: quantize-kv-cache, format: int8}", False),
        ("engine: kv_cache_dtype: fp8", "{use: quantize-kv-cache, format: fp8, status: reject}", False),
        ("engine: kv_cache_dtype: bf16", "{use: quantize-kv-cache, format: fp8}", False),
        ("engine: kv_cache_dtype: bf16", "{use: quantize-kv-cache, format: fp8, status: reject}", True),
        ("engine: kv_cache_dtype: auto", "{use: quantize-kv-cache, format: fp8}", True),
        ("model: weights: int8", "{use: quantize-weights, format: int4}", False),
        ("model: weights: int8", "{use: quantize-weights, format: int8}", True),
        ("model: weights: published", "{use: quantize-weights, format: int8}", True),
        ("model: weights: fp16", "{use: quantize-weights, format: int8}", True),
        ("engine: admission: on-demand", "{use: admission-policy, policy: reserve-maximum}", False),
    ],
)
def test_one_switch_one_meaning(validate: Any, spec: str, key: str, lever: str, accepted: bool) -> None:
    section, _, line = key.partition(": ")
    text = spec.replace(f"\n{section}:\n", f"\n{section}:\n  {line}\n", 1)
    text = text.replace("- use: prefix-caching", f"- {lever}")
    assert [item.id for item in validate(text)] == ([] if accepted else ["contradicting-lever"])


@pytest.mark.parametrize(
    "new",
    [
        "  name: llama-cpp\n",  # splits by layers over every card
        "  name: ideal\n",  # takes every card that no other size takes
    ],
)
def test_engines_that_take_every_card(validate: Any, spec: str, new: str) -> None:
    text = spec.replace("  count: 1\n", "  count: 6\n").replace("  name: vllm\n", new)
    assert validate(text) == ()


def test_shares_of_a_few_digits_are_a_whole(validate: Any, spec: str) -> None:
    thirds = "".join(f"\n    - {{name: {name}, share: 0.333333, context_tokens: 8}}" for name in "abc")
    text = spec.replace("\n    - name: chat\n      prompt_tokens: 500\n      output_tokens: 100", thirds)
    assert validate(text) == ()


def test_lengths_come_from_a_recorded_load(validate: Any, spec: str) -> None:
    text = spec.replace("{concurrency: 8}", "{trace: traces/day.csv, scale: 1.5}")
    text = text.replace("\n      prompt_tokens: 500\n      output_tokens: 100", "")
    assert validate(text) == ()
