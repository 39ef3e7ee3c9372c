"""The engine has no kernels for this weight format on this card.

Storage and arithmetic are two things: a format may be stored and widened on older cards (weight-only), and then
needs less than its arithmetic does. What a version can is in the engine's catalogue file, by compute capability.
Only NVIDIA cards say one. The precision of the cache is not meant: an 8-bit cache is stored, and works on older cards.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.checks import _capability
from planner.domain import formats
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "engine-weight-format"
SEVERITY = Severity.ERROR
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: no-fp4-kernels}
model: {architecture: {parameters: 7e9, layers: 32, attention: {heads: 32, kv_heads: 8, head_dim: 128}}, weights: nvfp4}
hardware: {accelerator: a100-sxm-80}
engine: {name: vllm, version: "0.7", max_model_len: 4096}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("weights: nvfp4", "weights: awq-int4")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    shipped: Plan = result.detail.plan
    yield from _dropped(plan, shipped)
    lowest, linear = _capability.lowest(plan), engines.figure(plan.engine, "weight_format_capability")
    if lowest is None or linear is None:
        return
    experts = {**linear, **(engines.figure(plan.engine, "expert_format_capability") or {})}
    said: set[str] = set()
    for _, weight in shipped.model.weights():
        family = family_of(weight.format or shipped.model.dtype)
        needed = (experts if weight.role == "expert" else linear).get(family)
        if needed is None or lowest >= needed or family in said:
            continue
        said.add(family)
        can = sorted(name for name, least in experts.items() if lowest >= least)
        yield Finding(
            ID,
            SEVERITY,
            f"{plan.engine.name} serves {family} weights from compute capability {needed:g}, the card has {lowest:g}",
            f"16 bits, or one of: {', '.join(can)}." if can else "Use 16 bits, or a newer card.",
            "/model/weights",
            {"format": family, "compute_capability": lowest, "needed_capability": needed, "valid_formats": can},
            verdict=Verdict.INFEASIBLE,
        )


def _dropped(plan: Plan, shipped: Plan) -> Iterator[Finding]:
    """Formats that this version no longer loads, whatever the card."""
    dropped = engines.figure(plan.engine, "weight_formats_dropped") or ()
    formats_ = {weight.format for _, weight in shipped.model.weights() if weight.format and weight.role != "embedding"}
    for family in sorted({family_of(name) for name in formats_} & set(dropped)):
        version = f" {plan.engine.version}" if plan.engine.version else ""
        yield Finding(
            ID,
            SEVERITY,
            f"{plan.engine.name}{version} no longer loads {family} weights",
            "An older version, llama-cpp for GGUF files, or a checkpoint in fp8, awq-int4 or gptq-int4.",
            "/model/weights",
            {"format": family, "valid_formats": ["bf16", "fp8", "awq", "gptq"]},
            verdict=Verdict.INFEASIBLE,
        )


def family_of(name: str) -> str:
    """`gptq-int4-g32` -> gptq; `fp8-block` -> fp8; int8 with its own scales by channel stays int8."""
    if name.startswith("int8-weight-only"):
        return "gptq"
    known = ("fp8", "mxfp8", "int8", "awq", "gptq", "bnb", "nvfp4", "mxfp4")
    if formats.is_gguf(name):
        return "gguf"
    found = next((item for item in known if name.startswith(item)), name)
    return "fp8" if found == "mxfp8" else found
