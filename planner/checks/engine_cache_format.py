"""The engine has no kernels for a cache in this precision: on this card, with these weights, or with this attention.

An 8-bit cache is mostly stored only and widened as it is read, so older cards serve it where a version has the
kernel; what a version has is in the engine's catalogue file. llama.cpp reads a quantised cache with flash attention
only, and stops where that is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner import engines
from planner.checks import _capability
from planner.checks.engine_weight_format import family_of
from planner.domain import formats
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-cache-format"
SEVERITY = Severity.ERROR
# https://github.com/vllm-project/vllm/issues/47549
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: eight-bit-cache-on-turing}
model: {architecture: {parameters: 3e9, layers: 28, attention: {heads: 24, kv_heads: 8, head_dim: 128}}, weights: fp16}
hardware: {accelerator: t4}
engine: {name: vllm, version: "0.24", max_model_len: 2048, kv_cache_dtype: fp8}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace('"0.24"', '"0.7"')


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped: Plan = result.detail.plan
    cache = shipped.cache_format
    found = formats.get_cache(cache) if cache else None
    if cache is None or found is None or found.bits >= 16:
        return
    served = engines.figure(plan.engine, "cache_formats")
    if served is not None and found.name not in served:
        version = f" {plan.engine.version}" if plan.engine.version else ""
        text = f"{plan.engine.name}{version} has no cache in {cache}"
        yield _finding(shipped, cache, text, ["auto", *served], {})
        return
    yield from _on_the_card(shipped, cache)
    yield from _with_the_weights(shipped, cache)
    if engines.figure(plan.engine, "quantized_cache_needs_flash_attention"):
        yield from _without_flash_attention(shipped, cache)


def _on_the_card(plan: Plan, cache: str) -> Iterator[Finding]:
    has, table = _capability.lowest(plan), engines.figure(plan.engine, "cache_format_capability") or {}
    family = next((name for name in table if cache.startswith(name)), None)
    if has is None or family is None or has >= table[family]:
        return
    values = {"compute_capability": has, "needed_capability": table[family]}
    can = ["auto", *(name for name, least in table.items() if has >= least)]
    yield _finding(
        plan,
        cache,
        f"{plan.engine.name} serves a cache in {cache} from compute capability {table[family]:g}, the card has {has:g}",
        can,
        values,
    )


def _with_the_weights(plan: Plan, cache: str) -> Iterator[Finding]:
    families = {family_of(weight.format) for _, weight in plan.model.weights() if weight.format}
    for refused, weights in engines.figure(plan.engine, "cache_conflicts") or ():
        if cache == refused and weights in families:
            text = f"a cache in {cache} is refused with {weights} weights"
            yield _finding(plan, cache, text, ["auto", "fp8_e4m3"], {"weights": weights})


def _without_flash_attention(plan: Plan, cache: str) -> Iterator[Finding]:
    if not plan.techniques.exact_attention_kernel:
        text = f"a cache in {cache} is read by flash attention only, and exact-attention-kernel is off"
        yield _finding(plan, cache, text, ["auto", "f16"], {})


def _finding(plan: Plan, cache: str, message: str, can: list[str], values: dict[str, Any]) -> Finding:
    hint = f"Use kv_cache_dtype {' or '.join(can)}, or another card or version."
    found = {"cache_format": cache, "valid_formats": can, **values}
    return Finding(ID, SEVERITY, message, hint, "/engine/kv_cache_dtype", found, verdict=Verdict.INFEASIBLE)
