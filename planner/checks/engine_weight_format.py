"""The engine has no kernels for this weight format on this card.

Storage and arithmetic are two things: a format may be stored and widened on older cards (weight-only), and then
needs less than its arithmetic does. What a version can is in the engine's catalogue file, by compute capability.
Only NVIDIA cards say one. The precision of the cache is not meant: an 8-bit cache is stored, and works on older cards.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner import engines
from planner.checks import _capability
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


def family_of(name: str) -> str:
    """`gptq-int4-g32` -> gptq; `fp8-block` -> fp8; int8 with its own scales by channel stays int8."""
    if name.startswith("int8-weight-only"):
        return "gptq"
    known = ("fp8", "mxfp8", "int8", "awq", "gptq", "bnb", "nvfp4", "mxfp4")
    found = next((item for item in known if name.startswith(item)), name)
    return "fp8" if found == "mxfp8" else found
