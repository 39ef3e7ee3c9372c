"""The card is too old for the engine, or computes no bfloat16 and the model is in it.

What weights are stored in is `engine-weight-format`; this is what the products run in. Volta and Turing (compute
capability 7.x) have no bfloat16: older versions stop, newer ones go on in float16 by themselves, whose smaller range
some models overflow; `dtype: bfloat16` among the flags stops them too. Only NVIDIA cards have a compute capability.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.checks import _capability
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-compute-format"
SEVERITY = Severity.ERROR
# https://github.com/vllm-project/vllm/issues/1157
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: bfloat16-on-turing}
model: {architecture: {parameters: 3e9, layers: 28, attention: {heads: 24, kv_heads: 8, head_dim: 128}}, weights: bf16}
hardware: {accelerator: t4}
engine: {name: vllm, version: "0.6", max_model_len: 2048}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("weights: bf16", "weights: fp16")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    has, least = _capability.lowest(plan), engines.figure(plan.engine, "least_capability")
    if has is None or least is None:
        return
    if has < least:
        yield _too_old(plan, has, least)
        return
    needed = engines.figure(plan.engine, "bfloat16_capability")
    asked = str(plan.engine.arguments.get("dtype", "auto"))
    wanted = {"bfloat16": "bf16", "auto": result.detail.plan.model.dtype}.get(asked, asked)
    if needed is not None and has < needed and wanted == "bf16":
        yield _no_bfloat16(plan, has, needed, explicit=asked != "auto")
    elif wanted in ("fp16", "float16", "half"):
        yield from _no_float16(plan, asked)


def _too_old(plan: Plan, has: float, least: float) -> Finding:
    version = f" {plan.engine.version}" if plan.engine.version else ""
    return Finding(
        ID,
        SEVERITY,
        f"{plan.engine.name}{version} runs from compute capability {least:g}, the card has {has:g}",
        "Another engine (llama-cpp runs on older cards), an older version, or a newer card.",
        "/hardware/accelerator",
        {"compute_capability": has, "least_capability": least},
        verdict=Verdict.INFEASIBLE,
    )


def _no_float16(plan: Plan, asked: str) -> Iterator[Finding]:
    """Families whose activations overflow float16."""
    families, family = engines.figure(plan.engine, "float16_unfit") or (), plan.model.family
    if family not in families:
        return
    yield Finding(
        ID,
        SEVERITY,
        f"{plan.engine.name} serves no {family} in float16: its activations overflow",
        "dtype bfloat16 on a card that has it (compute capability 8.0), or float32 at twice the memory.",
        "/engine/args" if asked != "auto" else "/model/weights",
        {"family": family, "valid_formats": ["bf16", "fp32"]},
        verdict=Verdict.INFEASIBLE,
    )


def _no_bfloat16(plan: Plan, has: float, needed: float, *, explicit: bool) -> Finding:
    """explicit: asked for by the flag `dtype`, which no version overrides."""
    falls_back = bool(engines.figure(plan.engine, "bfloat16_falls_back")) and not explicit
    unfit = plan.model.family in (engines.figure(plan.engine, "float16_unfit") or ())
    served = "float32, at twice the memory" if unfit else "float16"
    then = f"this version serves it in {served}" if falls_back else "the engine stops"
    return Finding(
        ID,
        Severity.WARNING if falls_back else SEVERITY,
        f"bfloat16 is computed from compute capability {needed:g}, the card has {has:g}: {then}",
        "Declare `weights: fp16` and evaluate the model in it, or use a newer card.",
        "/engine/args" if explicit else "/model/weights",
        {"compute_capability": has, "needed_capability": needed, "valid_formats": ["fp16", "fp32"]},
        verdict=None if falls_back else Verdict.INFEASIBLE,
    )
