"""Experts are dealt to ranks, and the model has none.

vLLM refuses to start; others pass over the setting. Either way it does nothing of what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict

ID = "experts-of-a-dense-model"
SEVERITY = Severity.ERROR
REFUSED_BY = ("vllm",)
"""vllm/config/model.py: "Number of experts in the model must be greater than 0 when expert parallelism is enabled"."""
FAILING = """
apiVersion: planner/v1
kind: Deployment
metadata: {name: dense}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, count: 2}
engine: {name: vllm, tensor_parallel_size: 2, expert_parallel_size: 2, max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: all, prompt_tokens: 100, output_tokens: 100}]}
"""
PASSING = FAILING.replace("expert_parallel_size: 2, ", "")


def check(plan: Plan, result: PlanResult) -> Iterator[Finding]:
    ranks = plan.engine.expert_parallel_size
    if ranks <= 1 or any(part.experts for group in plan.model.groups for part in group.feed_forwards):
        return
    refused = plan.engine.name in REFUSED_BY
    yield Finding(
        ID,
        SEVERITY if refused else Severity.WARNING,
        f"expert_parallel_size is {ranks:,}, and {plan.model.name} has no experts",
        "Remove expert_parallel_size.",
        "/engine/expert_parallel_size",
        {"expert_parallel_size": ranks, "experts": 0},
        verdict=Verdict.INFEASIBLE if refused else None,
    )
