"""The engine has no attention kernel for this kind of layer on this card.

Sparse and compressed attention have kernels for Hopper and later only; the older generation of vLLM cannot chunk
prompts on Volta. Head sizes are compiled in. Otherwise attention over a plain
cache falls back to slower kernels and starts. Other engines and versions
may have what this one lacks: what is known is in the engine's catalogue file.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.checks import _capability
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-attention-kernel"
SEVERITY = Severity.ERROR
# https://github.com/vllm-project/vllm/issues/40851
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: sparse-attention-on-ampere}
model: {ref: deepseek-ai/DeepSeek-V3.2}
hardware: {accelerator: a100-sxm-80, count: 16}
engine: {name: vllm, version: "0.20", tensor_parallel_size: 16, max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("a100-sxm-80", "h200-sxm")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    has, shipped = _capability.lowest(plan), result.detail.plan
    yield from _head_sizes(plan)
    if has is None:
        return
    table = engines.figure(plan.engine, "attention_capability") or {}
    kinds = {mixer.kind for group in shipped.model.groups for mixer in group.mixers}
    for kind in sorted(kinds & set(table)):
        if has < table[kind]:
            text = (
                f"{plan.engine.name} has {kind} kernels from compute capability {table[kind]:g}, the card has {has:g}"
            )
            hint = "A newer card, another engine, or a model with plain attention."
            yield _finding(text, hint, "/hardware/accelerator", has, table[kind], kind)
    yield from _chunks(plan, has)


def _head_sizes(plan: Plan) -> Iterator[Finding]:
    """Kernels are compiled for some head sizes; a latent cache has kernels of its own."""
    valid = engines.figure(plan.engine, "head_sizes")
    mixers = [mixer for group in plan.model.groups for mixer in group.mixers]
    plain = {mixer.key_dim for mixer in mixers if mixer.attends and "latent" not in mixer.kind and mixer.key_dim}
    for size in sorted(plain - set(valid)) if valid else ():
        text = f"{plan.engine.name} has no attention kernels for heads of {size}"
        hint = f"Sizes that it has: {', '.join(map(str, valid))}. Another engine or version, or another model."
        values = {"head_size": size, "valid_head_sizes": valid}
        yield Finding(ID, SEVERITY, text, hint, "/model", values, verdict=Verdict.INFEASIBLE)


def _chunks(plan: Plan, has: float) -> Iterator[Finding]:
    least = engines.figure(plan.engine, "chunked_prefill_capability")
    rules = engines.figure(plan.engine, "older_generation_for") or {}
    older = not engines.figure(plan.engine, "engine_generation") or has < rules.get("capability_below", 0.0)
    chunked = any(use.use == "chunked-prefill" and use.status == "adopt" for use in plan.levers)
    if least is not None and older and has < least and chunked:
        text = f"chunked prefill has kernels from compute capability {least:g}, the card has {has:g}"
        hint = "Set enable_chunked_prefill: false and max_num_batched_tokens to max_model_len."
        yield _finding(text, hint, "/engine/enable_chunked_prefill", has, least, "chunked-prefill")


def _finding(text: str, hint: str, path: str, has: float, needed: float, kind: str) -> Finding:
    values = {"kind": kind, "compute_capability": has, "needed_capability": needed}
    return Finding(ID, SEVERITY, text, hint, path, values, verdict=Verdict.INFEASIBLE)
